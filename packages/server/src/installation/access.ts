/** A workspace and its owner key. */
export interface WorkspaceAccess {
  readonly workspaceId: string;
  readonly apiKey: string;
}

/** The two parties of the marketplace; dev mode makes a workspace for each. */
export type Profile = "brand" | "builder";

/** The workspaces and keys of the first start. Keys are known when they were just made, and in dev mode. */
export interface Installation {
  /** The first workspace; in dev mode the brand's. */
  readonly workspaceId: string;
  /** Its owner key. */
  readonly apiKey: string | null;
  /** The key that manages workspaces. */
  readonly operatorKey: string | null;
  /** Dev mode only. */
  readonly profiles: Readonly<Record<Profile, WorkspaceAccess>> | null;
}
