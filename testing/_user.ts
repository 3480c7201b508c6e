/**
 * Says who asks something of the server.
 *
 * ```ts
 * import type { User } from "./_user.ts";
 *
 * const admin: User = { name: "admin", groups: ["system:masters"] };
 * console.assert(admin.groups.length === 1);
 * ```
 *
 * @module
 */

/** Who asks. */
export interface User {
  /** The name, such as `system:serviceaccount:default:operator`. */
  readonly name: string;
  /** The groups, `system:authenticated` among them. */
  readonly groups: readonly string[];
  /** The uid, if it is known. */
  readonly uid?: string | undefined;
  /** Anything else that is known. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}
