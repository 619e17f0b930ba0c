import type { AuditEntry } from "@mailsvc/sdk/contract";

/** A kind of things whose changes are recorded. */
interface AuditedNoun {
  /** Word for one of them, with its article. */
  readonly one: string;
  /** Word for all of them. */
  readonly all: string;
  /** The page of one without an id of its own; `:id` stands for the name that it has instead. */
  readonly page?: string;
}

/** The nouns of the API whose changes are recorded. */
export const AUDITED_NOUNS: Readonly<Record<string, AuditedNoun>> = {
  activations: { one: "the agent", all: "agents" },
  assets: { one: "the picture", all: "pictures" },
  automations: { one: "the automation", all: "automations" },
  brand: { one: "the brand", all: "the brand", page: "/brand" },
  campaigns: { one: "the campaign", all: "campaigns" },
  credits: { one: "credits", all: "credits", page: "/credits" },
  dashboard: { one: "a session", all: "sessions" },
  forms: { one: "the form", all: "forms" },
  inboundDomains: { one: "the inbound domain", all: "inbound domains", page: "/inbound-domains" },
  keys: { one: "the key", all: "keys" },
  landingPages: { one: "the landing page", all: "landing pages" },
  leadMagnets: { one: "the lead magnet", all: "lead magnets" },
  listings: { one: "the listing", all: "listings", page: "/listings/:id" },
  lists: { one: "the list", all: "lists" },
  members: { one: "the member", all: "members" },
  metrics: { one: "the limits of bounces and complaints", all: "limits of rates", page: "/overview" },
  payments: { one: "a payment", all: "payments" },
  plans: { one: "the plan", all: "the plan", page: "/plan" },
  providers: { one: "the provider", all: "providers" },
  queue: { one: "the queue", all: "the queue", page: "/queue" },
  relays: { one: "the relay", all: "relays", page: "/relays/:id" },
  segments: { one: "the segment", all: "segments" },
  senders: { one: "the sender", all: "senders" },
  templates: { one: "the template", all: "templates" },
  webhooks: { one: "the webhook", all: "webhooks" },
  workspaces: { one: "the workspace", all: "workspaces", page: "/workspaces" },
};

/** Verbs of the API in the past; `…` stands for the object. */
const VERBS: Readonly<Record<string, string>> = {
  accept: "accepted the new version of …",
  activate: "activated …",
  add: "added …",
  archive: "archived …",
  cancel: "cancelled …",
  change: "changed …",
  confirm: "confirmed …",
  create: "created …",
  deactivate: "turned … off",
  delete: "deleted …",
  duplicate: "copied …",
  grant: "added …",
  hold: "held a domain of …",
  invite: "invited …",
  keep: "kept the accepted version of …",
  pause: "paused …",
  publish: "published …",
  release: "released a domain of …",
  remove: "removed …",
  requeue: "tried deferred mail again in …",
  resend: "sent … again",
  resume: "resumed …",
  revoke: "revoked …",
  rollback: "went back to an earlier version of …",
  rotateSecret: "rotated the secret of …",
  schedule: "scheduled …",
  send: "sent …",
  setLimits: "set …",
  setRole: "changed the role of …",
  signOut: "signed … out",
  signOutAll: "signed everybody out",
  signOutPerson: "signed a person out",
  unarchive: "took … out of the archive",
  unpublish: "took … offline",
  update: "changed …",
  verify: "verified …",
  winner: "chose the winner of …",
};

/** The words before the object of a change, and those after it; `noun` is null where the verb names no object. */
interface ChangeWords {
  readonly before: string;
  readonly after: string;
  readonly noun: AuditedNoun | null;
}

/** Words for a change, such as `templates.update`. Operations of agents have the noun after `agent.`. */
export function sayChange({ action }: Pick<AuditEntry, "action">): ChangeWords {
  const [verb = "", noun = ""] = action.split(".").reverse();
  const words = VERBS[verb] ?? `${verb.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}: …`;
  const [before = "", after] = words.split("…");
  if (after === undefined) return { before, after: "", noun: null };
  return { before, after, noun: AUDITED_NOUNS[noun] ?? { one: noun, all: noun } };
}

/** Name of who made a change. */
export function nameActor({ actor: { kind, name } }: Pick<AuditEntry, "actor">): string {
  if (kind === "operator") return "The operator";
  return kind === "key" ? `Key ${name ?? "without a name"}` : (name ?? "An agent");
}

/** A value of a field as text. */
export function sayValue(value: unknown): string {
  if (value === null || value === "") return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

/** The name of a field as words: `subjectLine` is `subject line`. */
export function sayField(field: string): string {
  return field.replaceAll(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`).replace(/ ids?$/, "");
}
