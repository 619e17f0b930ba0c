import type { CapturedMail, CapturedMailDetail, Page } from "@mailsvc/sdk/contract";
import { api } from "./client.ts";
import { session } from "./session.ts";

interface MailQuery {
  readonly limit: number;
  readonly cursor?: string;
  readonly text?: string;
  readonly to?: string;
  readonly tag?: string;
  /** Name or id of a workspace, in dev mode. */
  readonly workspace?: string;
}

/** Recipients a mail was sent on to, and those that failed. */
type ReleasedMail = Awaited<ReturnType<typeof api.inbox.release>>;

/** Captured mail: in dev mode all, in production that of the test keys of the workspace. */
interface InboxApi {
  list(query: MailQuery, signal: AbortSignal): Promise<Page<CapturedMail>>;
  get(id: string, signal: AbortSignal): Promise<CapturedMailDetail>;
  raw(id: string, signal: AbortSignal): Promise<string>;
  release(id: string, to: readonly string[]): Promise<ReleasedMail>;
  delete(id: string): Promise<unknown>;
  clear(): Promise<{ deleted: number }>;
}

/** The inbox of the person who is signed in. */
export function inboxApi(): InboxApi {
  const current = session.peek();
  if (current?.dev)
    return {
      list: (query, signal) => api.inbox.list(query, { signal }),
      get: (id, signal) => api.inbox.get(id, { signal }),
      raw: (id, signal) => api.inbox.raw(id, { signal }),
      release: (id, to) => api.inbox.release(id, { to: [...to] }),
      delete: (id) => api.inbox.delete(id),
      clear: () => api.inbox.clear(),
    };
  return {
    list: ({ workspace: _, ...query }, signal) => api.testInbox.list(query, { signal }),
    get: (id, signal) => api.testInbox.get(id, { signal }),
    raw: (id, signal) => api.testInbox.raw(id, { signal }),
    release: (id, to) => api.testInbox.release(id, { to: [...to] }),
    delete: (id) => api.testInbox.delete(id),
    clear: () => api.testInbox.clear(),
  };
}
