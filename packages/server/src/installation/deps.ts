import type { Db } from "../db/db.ts";
import type { WorkspaceDeps } from "../workspaces/deps.ts";

export interface InstallationDeps extends WorkspaceDeps {
  readonly db: Db;
  readonly config: WorkspaceDeps["config"] & { readonly name: string | null };
}
