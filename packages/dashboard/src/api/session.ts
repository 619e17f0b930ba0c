import type { Permission, Role } from "@mailsvc/sdk/contract";
import { signal } from "@preact/signals";

/** The signed-in person and their workspace. */
export interface Session {
  readonly role: Role;
  readonly permissions: readonly Permission[];
  /** The name and the address of the person, as far as they are known. */
  readonly name: string | null;
  readonly email: string | null;
  /** True if the person may do operator work: the queue, relays, workspaces. */
  readonly operator: boolean;
  readonly workspace: Workspace;
  /** In dev mode all workspaces; else those of which the person is a member, if there are several. */
  readonly workspaces: readonly Workspace[];
  readonly dev: boolean;
  readonly version: string;
  readonly mailer: string;
  /** True if no mail leaves the server, because it has no relay to send through. */
  readonly capturesMail: boolean;
  /** True if agents are offered on this server. */
  readonly marketplace: boolean;
  /** Session of this browser in the workspace; null in dev mode. */
  readonly sessionId: string | null;
}

interface Workspace {
  readonly id: string;
  readonly name: string;
}

/** The current session: undefined while it loads, null when signed out. */
export const session = signal<Session | null | undefined>(undefined);

/** True after a session of this browser has ended without a word of the person: it was too old, or somebody ended it. */
export const hasEnded = signal(false);

/** True if the person has an endpoint's permission. */
export function may(permission: Permission): boolean {
  return session.value?.permissions.includes(permission) ?? false;
}

/** True if the person may do operator work. */
export function mayOperate(): boolean {
  return session.value?.operator ?? false;
}

/** Header that names the workspace of a request in dev mode, where no session does. */
export function workspaceHeaders(): Readonly<Record<string, string>> {
  const current = session.peek();
  return current?.dev ? { "x-mailsvc-workspace": current.workspace.id } : {};
}

/** The same as a query, for addresses that a frame or a link loads. */
export function workspaceQuery(): Readonly<Record<string, string>> {
  const current = session.peek();
  return current?.dev ? { workspace: current.workspace.id } : {};
}
