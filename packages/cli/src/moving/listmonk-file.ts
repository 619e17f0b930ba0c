import { openSource } from "../import/source.ts";
import type { Session } from "../types.ts";
import { readRows } from "./csv-rows.ts";
import { splitName } from "./placeholders.ts";
import type { Consent, MovingSource, SourceList, SourcePerson, SourceSuppression, SourceTemplate } from "./source.ts";

/** Statements of the user about a file that does not say it. */
interface FileFlags {
  /** Name of the list that those who agreed join. */
  readonly list: string | undefined;
  /** True if everybody in the file who is enabled agreed to get mail. */
  readonly agreed: boolean;
}

const LIST = "file";
const ENABLED = "enabled";

/** An export of subscribers as CSV. It does not say who left a list, so nobody is mailable unless the user says so. Throws CliError. */
export function openListmonkFile(session: Session, given: string, { list, agreed }: FileFlags): MovingSource {
  const source = openSource(session, given);
  let enabled = 0;
  return {
    title: `listmonk's file ${source.name}`,
    lists: async (): Promise<readonly SourceList[]> =>
      list === undefined ? [] : [{ key: LIST, name: list, description: null, public: true }],
    async *suppressions(): AsyncGenerator<readonly SourceSuppression[]> {},
    async *people(): AsyncGenerator<readonly SourcePerson[]> {
      for await (const rows of readRows(source.name, source.bytes(), ["email", "status"]))
        yield rows.map(({ at, cells, fault }): SourcePerson => {
          const status = cells.get("status") ?? "";
          if (status === ENABLED) enabled += 1;
          const attributes = readAttributes(cells.get("attributes") ?? "{}");
          const consent: Consent = status === "blocklisted" ? "refused" : status === ENABLED && agreed ? "agreed" : "unknown";
          return {
            at,
            email: cells.get("email") ?? "",
            consent,
            fields: {
              ...splitName(cells.get("name") ?? ""),
              ...(attributes && Object.keys(attributes).length > 0 && { customFields: attributes }),
            },
            suppression: status === "blocklisted" ? { reason: "manual", note: "Blocklisted at listmonk" } : null,
            joins: consent === "agreed" && list !== undefined ? [LIST] : [],
            left: [],
            fault: fault ?? (attributes === null ? "Its attributes are no JSON object." : null),
          };
        });
    },
    async *templates(): AsyncGenerator<SourceTemplate> {},
    remarks: () =>
      agreed || enabled === 0
        ? []
        : [
            `listmonk's file does not say who left a list: ${enabled} enabled people are moved and not subscribed. Read from listmonk itself, or add --agreed if all of them agreed to get mail.`,
          ],
  };
}

/** The attributes of a row; null if they are no object. */
function readAttributes(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
