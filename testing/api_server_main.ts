/**
 * Serves the Kubernetes API from memory as a program of its own, for kubectl and for operators in any language.
 *
 * ```sh
 * deno run -A jsr:@tend/operator/api-server --port 8001 --kubeconfig kubeconfig.yaml --controllers garbage-collector
 * ```
 *
 * It prints one line when it is ready, and ends with 0 after SIGINT or SIGTERM; `--help` lists its flags. The kubeconfig's
 * user is a cluster admin. Over plain HTTP everybody is, for kubectl sends no token there; `--tls` serves HTTPS, so that
 * the users of `--token-file` can be told apart, and `--authorization` holds them to the stored roles.
 *
 * @module
 */
import { program } from "./_program.ts";

if (import.meta.main) Deno.exit(await program(Deno.args));
