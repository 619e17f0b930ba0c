import { formatCount } from "../plural.ts";

/** How many of each kind are named at most: `TEMPLATE_LIMITS.usedBy`, which no page loads the contract for. */
export const MOST_NAMED = 100;

/** What uses a template, and where it is shown. */
export interface TemplateUser {
  readonly id: string;
  readonly name: string;
  readonly kind: "template" | "campaign" | "automation";
  readonly href: string;
  /** Of what sends it. */
  readonly status: string | null;
  /** When a campaign began to send it; null before, and of others. */
  readonly startedAt: string | null;
}

/** How many use a template; there may be more than are named. */
export function countUsers(users: readonly TemplateUser[]): string {
  return `${formatCount(users.length)}${mayBeMore(users) ? " or more" : ""}`;
}

/** What the deletion of a template stops from sending it, and the campaigns that have started with it: their rest is sent. */
export function sortUsers(users: readonly TemplateUser[]): { readonly stopped: TemplateUser[]; readonly started: TemplateUser[] } {
  const isStarted = ({ startedAt }: TemplateUser): boolean => startedAt !== null;
  return { stopped: users.filter((user) => !isStarted(user)), started: users.filter(isStarted) };
}

/** Whether more use a template than are named. */
export function mayBeMore(users: readonly TemplateUser[]): boolean {
  return Object.values(Object.groupBy(users, ({ kind }) => kind)).some((some) => some.length >= MOST_NAMED);
}
