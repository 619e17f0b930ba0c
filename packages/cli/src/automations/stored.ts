import { CliError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import type { Session } from "../types.ts";
import { normalize } from "./file.ts";
import type { StoredAutomation } from "./noun.ts";
import type { References } from "./references.ts";

const CONCURRENCY = 4;

/** Reads the automations of the workspace that are not archived, or those with the names in `only`. Throws CliError when two have one name. */
export async function readStoredAutomations(
  session: Session,
  references: References,
  only: readonly string[],
): Promise<Map<string, StoredAutomation>> {
  const client = await session.client();
  const progress = session.progress("Reading the automations");
  try {
    const all = await client.automations.list({ limit: 100 }).toArray();
    const heads = all.filter(({ name }) => only.length === 0 || only.includes(name));
    for (const [name, same] of Map.groupBy(heads, (head) => head.name))
      if (same.length > 1)
        throw new CliError({
          code: "conflict",
          message: `${same.length} automations on the server have the name "${name}". Files are matched by name.`,
          exit: EXIT.conflict,
          hint: `Rename or archive all but one of ${same.map(({ id }) => id).join(", ")}.`,
          next: `mailsvc automations update ${same.at(-1)?.id} --name "Another name"`,
        });
    const found = new Map<string, StoredAutomation>();
    for (let i = 0; i < heads.length; i += CONCURRENCY) {
      progress.update(`Reading the automations, ${i} of ${heads.length}`);
      for (const detail of await Promise.all(heads.slice(i, i + CONCURRENCY).map(({ id }) => client.automations.get(id)))) {
        const { id, revision, status } = detail;
        const files = await references.toNames(normalize(detail, null));
        found.set(detail.name, { id, revision, status, isUnreleased: status === "DRAFT", files });
      }
    }
    return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    progress.stop();
  }
}
