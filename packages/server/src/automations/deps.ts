import type { ListDeps } from "../lists/deps.ts";

export interface AutomationDeps extends ListDeps {}
