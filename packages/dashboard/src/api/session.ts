import type { Permission, Role } from "@mailsvc/sdk/contract";
import { signal } from "@preact/signals";

/** Who is signed in, and where. */
export interface Session {
  readonly role: Role;
  readonly permissions: readonly Permission[];
  /** The name that a proxy gave. */
  readonly user: string | null;
  /** Whether the person may do what needs the operator key: the queue, relays, workspaces. */
  readonly operator: boolean;
  readonly workspace: Workspace;
  /** In dev mode, all workspaces. */
  readonly workspaces: readonly Workspace[];
  readonly dev: boolean;
  readonly version: string;
  readonly mailer: string;
  /** Whether no mail leaves the server, because it has nothing to send through. */
  readonly capturesMail: boolean;
  /** True if agents are offered on this server. */
  readonly marketplace: boolean;
  /** Of the sessions of the workspace, the one of this browser; null in dev mode. */
  readonly sessionId: string | null;
}

interface Workspace {
  readonly id: string;
  readonly name: string;
}

/** The current session: undefined while it loads, null when signed out. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether the person may do what an endpoint's permission stands for. */
export function may(permission: Permission): boolean {
  return session.value?.permissions.includes(permission) ?? false;
}

/** Whether the person may do what needs the operator key. */
export function mayOperate(): boolean {
  return session.value?.operator ?? false;
}

/** Which workspace a request is about: dev mode has no session that says it. */
export function workspaceHeaders(): Readonly<Record<string, string>> {
  const current = session.peek();
  return current?.dev ? { "x-mailsvc-workspace": current.workspace.id } : {};
}

/** The same as a query, for addresses that a frame or a link loads. */
export function workspaceQuery(): Readonly<Record<string, string>> {
  const current = session.peek();
  return current?.dev ? { workspace: current.workspace.id } : {};
}
