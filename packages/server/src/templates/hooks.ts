import type { TemplateDetail } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { TemplateRow } from "./store.ts";

/** Objects of other modules that name a template. */
type Senders = Omit<TemplateDetail["usedBy"], "templates">;

/** Finds the objects of other modules that name a template. `features.ts` connects it. */
export interface TemplateHooks {
  /** Campaigns that are not over and automations that send a template, the newest first, at most `TEMPLATE_LIMITS.usedBy` of each. */
  listSenders(read: Reader, template: Pick<TemplateRow, "id" | "workspaceId">): Promise<Senders>;
}
