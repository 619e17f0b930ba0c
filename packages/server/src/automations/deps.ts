import type { ListDeps } from "../lists/deps.ts";

/** What automations need. */
export interface AutomationDeps extends ListDeps {}
