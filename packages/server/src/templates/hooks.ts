import type { TemplateDetail } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { TemplateRow } from "./store.ts";

/** What names a template in other rooms. */
type Senders = Omit<TemplateDetail["usedBy"], "templates">;

/** How templates learn who names them. `features.ts` connects it. */
export interface TemplateHooks {
  /** Campaigns that are not over and automations that send a template, the newest first, at most `TEMPLATE_LIMITS.usedBy` of each. */
  listSenders(read: Reader, template: Pick<TemplateRow, "id" | "workspaceId">): Promise<Senders>;
}
