import { formatMinimum } from "../plural.ts";

/** Limit for the named users of each kind: `TEMPLATE_LIMITS.usedBy`. A copy, because no page loads the contract for it. */
export const MOST_NAMED = 100;

/** Object that uses a template, and its page. */
export interface TemplateUser {
  readonly id: string;
  readonly name: string;
  readonly kind: "template" | "campaign" | "automation";
  readonly href: string;
  /** State of a campaign or automation; null for a template. */
  readonly status: string | null;
  /** Start of sending; null before it, and for templates and automations. */
  readonly startedAt: string | null;
}

/** Counts the users of a template; there may be more than are named. */
export function countUsers(users: readonly TemplateUser[]): string {
  return formatMinimum(users.length, mayBeMore(users));
}

/** Splits the users by what deleting the template does: those it stops, and campaigns already started, which are sent to the end. */
export function sortUsers(users: readonly TemplateUser[]): { readonly stopped: TemplateUser[]; readonly started: TemplateUser[] } {
  const isStarted = ({ startedAt }: TemplateUser): boolean => startedAt !== null;
  return { stopped: users.filter((user) => !isStarted(user)), started: users.filter(isStarted) };
}

/** True if more objects use a template than are named. */
export function mayBeMore(users: readonly TemplateUser[]): boolean {
  return Object.values(Object.groupBy(users, ({ kind }) => kind)).some((some) => some.length >= MOST_NAMED);
}
