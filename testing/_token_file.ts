/**
 * Reads the users of a static token file, as kube-apiserver's `--token-auth-file` has them.
 *
 * ```ts
 * import { tokenUsers } from "./_token_file.ts";
 *
 * const users = tokenUsers('secret,ada,1,"dev,ops"\n');
 * console.assert(users.secret?.groups?.length === 2);
 * ```
 *
 * @module
 */

/** A user of a token file. */
export interface TokenUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/** A field in quotes or without, and the comma or end after it. */
const FIELD = /\s*(?:"((?:[^"]|"")*)"\s*|([^",]*))(,|$)/y;

function fields(line: string): string[] | undefined {
  const found: string[] = [];
  FIELD.lastIndex = 0;
  while (true) {
    const match = FIELD.exec(line);
    if (!match) return undefined;
    found.push(match[1]?.replaceAll('""', '"') ?? match[2]!.trim());
    if (match[3] === "") return found;
  }
}

/**
 * The users by token. A line is `token,user,uid` or `token,user,uid,"group1,group2"`; empty lines are passed over.
 *
 * @throws {SyntaxError} If a line is not like that
 */
export function tokenUsers(text: string): Record<string, TokenUser> {
  const users: Record<string, TokenUser> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const [token = "", name = "", uid, groups = ""] = fields(line) ?? [];
    if (token === "" || name === "" || uid === undefined) {
      throw new SyntaxError(`line ${index + 1} must be token,user,uid,"group1,group2"`); // The line has a secret in it.
    }
    users[token] = { name, uid, groups: groups.split(",").map((each) => each.trim()).filter((each) => each !== "") };
  }
  return users;
}
