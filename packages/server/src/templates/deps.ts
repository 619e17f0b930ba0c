import type { TemplateDetail } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { CompiledTemplates } from "./compiled-set.ts";
import type { TemplateRow } from "./store.ts";

export interface TemplateDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly compiledTemplates: CompiledTemplates;
  readonly templateHooks: TemplateHooks;
}

/** Objects of other modules that name a template. */
type Senders = Omit<TemplateDetail["usedBy"], "templates">;

/** Finds the objects of other modules that name a template. `features.ts` connects it. */
interface TemplateHooks {
  /** Campaigns that are not over and automations that send a template, the newest first, at most `TEMPLATE_LIMITS.usedBy` of each. */
  listSenders(read: Reader, template: Pick<TemplateRow, "id" | "workspaceId">): Promise<Senders>;
}
