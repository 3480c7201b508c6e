/** Does with kubectl what people do, as an admin and as a user with few rights. */
import { hasKubectl, kubectl } from "../control_plane/_kubectl.ts";
import type { CheckResult } from "../../tools/client_programs.ts";

export { hasKubectl };

/** Where a server is, and who may ask it. */
export interface Reached {
  /** The text of a kubeconfig of an admin. */
  readonly kubeconfig: string;
  /** Writes a kubeconfig of a user. */
  kubeconfigOf(user: string, groups?: readonly string[]): string;
}

const MANIFEST = `
apiVersion: v1
kind: Namespace
metadata: { name: kubectl }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: kubectl }
spec:
  replicas: 0
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: "main:1" }] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: readers, namespace: kubectl }
rules: [{ apiGroups: [apps], resources: [deployments], verbs: [get, list, watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: readers, namespace: kubectl }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: readers }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers }]
`;

function must(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

async function refusal(attempt: Promise<string>): Promise<string> {
  try {
    return `not refused: ${await attempt}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs the checks, with files in a folder. */
export async function kubectlChecks(at: Reached, folder: string, authorizes: boolean): Promise<CheckResult[]> {
  const admin = `${folder}/kubectl-admin`, reader = `${folder}/kubectl-reader`;
  await Deno.writeTextFile(admin, at.kubeconfig, { mode: 0o600 });
  await Deno.writeTextFile(reader, at.kubeconfigOf("jane", ["readers"]), { mode: 0o600 });
  const as = (config: string, line: string, input = ""): Promise<string> => kubectl(config, line.split(" "), input);
  const checks: Record<string, () => Promise<void>> = {
    "documents are applied, and are unchanged when applied again": async () => {
      await as(admin, "apply -f -", MANIFEST);
      const again = await as(admin, "apply -f -", MANIFEST);
      must(again.split("\n").filter((line) => line.endsWith("unchanged")).length === 4, again);
    },
    "documents are applied by the server": async () => {
      const applied = await as(admin, "apply --server-side --force-conflicts -f -", MANIFEST);
      must(applied.includes("deployment.apps/web serverside-applied"), applied);
    },
    "objects are shown, described, scaled, patched and waited for": async () => {
      const table = await as(admin, "get deployments -n kubectl");
      must(/^web +0\/0 /m.test(table), table);
      await as(admin, "scale deployment web -n kubectl --replicas=2");
      await as(
        admin,
        `patch deployment web -n kubectl --type=json -p [{"op":"replace","path":"/spec/replicas","value":3}]`,
      );
      await as(admin, "wait deployment web -n kubectl --for=jsonpath={.spec.replicas}=3 --timeout=10s");
      const text = await as(admin, "describe deployment web -n kubectl");
      must(text.includes("3 desired"), text);
    },
    "kinds are explained and listed": async () => {
      must((await as(admin, "api-resources --api-group=apps -o name")).includes("deployments.apps"), "no deployments");
      must((await as(admin, "explain deployment.spec.replicas")).includes("<integer>"), "no type");
    },
  };
  if (authorizes) {
    checks["the admin and a user are who they are"] = async () => {
      must((await as(admin, "auth whoami")).includes("system:masters"), "the admin is no master");
      const user = await as(reader, "auth whoami -o jsonpath={.status.userInfo.username}/{.status.userInfo.groups}");
      must(user === 'jane/["readers","system:authenticated"]', user);
    };
    checks["a user may do what roles say, and no more"] = async () => {
      must((await as(reader, "get deployment web -n kubectl -o name")) === "deployment.apps/web\n", "no deployment");
      must((await refusal(as(reader, "auth can-i delete deployments -n kubectl"))).includes("no"), "may delete");
      const refused = await refusal(as(reader, "delete deployment web -n kubectl"));
      must(refused.includes('User "jane" cannot delete resource "deployments"'), refused);
      must((await refusal(as(reader, "get nodes"))).includes("Forbidden"), "may get nodes");
    };
    checks["an admin does something as somebody else"] = async () => {
      const refused = await refusal(as(admin, "get secrets -n kubectl --as=jane --as-group=readers"));
      must(refused.includes('User "jane" cannot list resource "secrets"'), refused);
    };
  }
  checks["objects are deleted"] = async () => {
    const deleted = await as(admin, "delete deployment web -n kubectl");
    must(deleted.includes("deleted"), deleted);
  };
  const results: CheckResult[] = [];
  for (const [name, check] of Object.entries(checks)) {
    const problem = await check().then(() => undefined, (error) => String(error.message).replaceAll("\n", " "));
    results.push({ name, problem });
  }
  return results;
}
