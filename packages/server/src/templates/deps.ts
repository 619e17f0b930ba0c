import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { CompiledTemplates } from "./compiled-templates.ts";
import type { TemplateHooks } from "./hooks.ts";

export interface TemplateDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly compiledTemplates: CompiledTemplates;
  readonly templateHooks: TemplateHooks;
}
