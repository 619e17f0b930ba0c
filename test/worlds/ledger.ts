import type { Role } from "@mailsvc/sdk/contract";
import type { Tenant } from "./script.ts";

/** The time at which something happened. */
export interface Mark {
  readonly order: number;
  /** Time by the clock of the world, ms. */
  readonly at: number;
}

/** A mail that a mail server was given. */
interface HandOver extends Mark {
  readonly workspaceId: string;
  readonly emailId: string | null;
  readonly to: string;
  readonly messageId: string;
  /** The words `Says …` of its HTML and of its text. */
  readonly says: readonly (string | null)[];
  /** The number of the person whom it greets; null if it greets nobody with a number. */
  readonly greeted: string | null;
  /** Host of the relay that it came over; null for the first one. */
  readonly relay: string | null;
  /** True if it offers to unsubscribe. */
  readonly hasWayOut: boolean;
  /** Workspaces whose words are in it. */
  readonly words: readonly Tenant[];
  /** False if the connection broke or the mail server refused, so that nobody has the mail for certain. */
  readonly taken: boolean;
}

/** A no that the service has acknowledged: from then on no mail of this scope goes to the address. */
export interface Refusal extends Mark {
  readonly tenant: Tenant;
  readonly address: string;
  readonly scope: "marketing" | "all";
}

/** A person has left a list by themselves, and the service has acknowledged it. */
interface Departure extends Mark {
  readonly tenant: Tenant;
  /** The id of the list. */
  readonly list: string;
  readonly address: string;
}

/** A contact that was deleted, and the service has acknowledged it. */
interface Removal extends Mark {
  readonly contactId: string;
}

/** The events that a webhook has subscribed to since a change of that. */
interface Subscription {
  /** The number of the last event before the change. */
  readonly before: number;
  /** The number of the last event that may have come before the change. */
  readonly after: number;
  readonly events: readonly string[];
}

/** A stretch in which a thing was to stand still, because the service had acknowledged that it was paused or cancelled. */
interface Stop {
  /** The id of the thing, or what an operator has stopped. */
  readonly what: string;
  readonly from: Mark;
  /** True if mail was under way, of which some leaves yet within a second of real time: no time passes before that. */
  readonly isSoft: boolean;
  /** Null while it lasts. */
  until: Mark | null;
}

/** A key, and when it was to work. */
interface KeyRecord {
  readonly tenant: Tenant;
  readonly key: string;
  /** The call by which it is tried. */
  readonly path: string;
  /** A call that it may never make. */
  readonly forbidden?: string;
  /** The instant from which it is refused, by the clock of the world, ms. */
  readonly until?: number;
  works: boolean;
}

/** A request that a webhook was sent. */
interface HookCall {
  readonly name: string;
  readonly status: number;
  readonly body: string;
  /** The text that is signed before the body. */
  readonly prefix: string;
  readonly signatures: readonly string[];
  /** Time by the clock of the world, ms. */
  readonly at: number;
}

/** The secrets of a webhook from some instant on: those that sign until `until`, and the one that signs alone after it. */
interface Secrets {
  /** Time by the clock of the world, ms. */
  readonly from: number;
  readonly old: string | null;
  readonly next: string;
  readonly until: number;
}

/** The invariants that read notes. */
type NotedInvariant = "content" | "follows" | "forgotten" | "keys" | "once" | "refusals" | "sums";

/** A browser in which somebody has signed in. */
interface Browser {
  readonly tenant: Tenant;
  readonly cookie: string;
  /** Role that it gives them; null if they were signed out. */
  readonly role: Role | null;
  /** Time of its last request by the clock of the world, ms. */
  readonly seenAt: number;
}

/** Requests of one UTC day for a page that anybody can open. */
interface Visits {
  readonly tenant: Tenant;
  readonly page: string;
  readonly date: string;
  views: number;
  signUps: number;
  /** Requests that were lost with a server, or came while one could not write. */
  unsure: number;
  readonly browsers: Set<string>;
}

/** Mails a second that may leave over a relay; null for any number. It counts until another one is set. */
interface SetPace {
  readonly relay: string;
  readonly from: number;
  readonly perSecond: number | null;
}

/** Answer of a reader to a mail. */
interface Answer {
  readonly emailId: string;
  readonly isAutomatic: boolean;
  /** Time by the clock of the world, ms. */
  readonly at: number;
}

/** Something that a reader did with a mail, and that the service has answered. */
interface Reaction {
  readonly tenant: Tenant;
  readonly emailId: string;
  /** The type of the event that tells of it. */
  readonly type: string;
  readonly at: number;
}

/**
 * Observations from outside, in the order in which they happened. Invariants compare them with the service's answers; nothing in it comes
 * from the database.
 */
export class Ledger {
  #order = 0;
  readonly handOvers: HandOver[] = [];
  readonly refusals: Refusal[] = [];
  readonly departures: Departure[] = [];
  readonly removals: Removal[] = [];
  /** Mail that was accepted while the world was at rest. */
  readonly accepted: { readonly id: string; readonly at: number }[] = [];
  /** The subscriptions of each webhook since it was registered, by its name; null where a call that was lost may have changed them. */
  readonly subscriptions = new Map<string, Subscription[] | null>();
  /** The ids of things of which the service has answered that they are deleted. */
  readonly deleted = new Set<string>();
  /** Addresses whose no was taken back, as `tenant address`. */
  readonly forgiven = new Set<string>();
  readonly keys: KeyRecord[] = [];
  readonly calls: HookCall[] = [];
  readonly stops: Stop[] = [];
  readonly reactions: Reaction[] = [];
  readonly answers: Answer[] = [];
  readonly paces: SetPace[] = [];
  /** The instants at which servers were started, ms. */
  readonly starts: number[] = [];
  /** The visits of pages, by page and day. */
  readonly visits = new Map<string, Visits>();
  /** The secrets of each webhook, by its name; null where a call that was lost may have changed them. */
  readonly secrets = new Map<string, Secrets[] | null>();
  /** The browsers of members of a workspace, by the labels of these. */
  readonly browsers = new Map<string, Browser>();
  /** Violations seen at a time that is over at rest, by the name of the invariant. */
  readonly notes = new Map<NotedInvariant, string[]>();
  /** The clock of the world. */
  now: () => number = () => 0;
  /** Answers that should not have been: errors of the server, words of another workspace. */
  readonly faults: string[] = [];

  /** Counts up with everything that happens. */
  next(): number {
    this.#order += 1;
    return this.#order;
  }

  note(invariant: NotedInvariant, ...what: readonly string[]): void {
    this.notes.set(invariant, [...(this.notes.get(invariant) ?? []), ...what]);
  }

  handOver(one: Omit<HandOver, keyof Mark>): void {
    this.handOvers.push({ ...one, order: this.next(), at: this.now() });
  }

  call(one: Omit<HookCall, "at">): void {
    this.calls.push({ ...one, at: this.now() });
  }

  /** A webhook has got a secret, and the one before goes on to sign for a while. */
  secretOf(name: string, secret: string, overlapMs: number): void {
    const known = this.secrets.get(name);
    if (known === null) return;
    const [from, before] = [this.now(), known?.at(-1)];
    // Another rotation during the overlap replaces the new secret.
    const old = before && (before.old !== null && from < before.until ? before.old : before.next);
    this.secrets.set(name, [...(known ?? []), { from, old: old ?? null, next: secret, until: from + overlapMs }]);
  }

  /** The visits of a page on this day. */
  visitsOf(tenant: Tenant, page: string): Visits {
    const date = new Date(this.now()).toISOString().slice(0, 10);
    const known = this.visits.get(`${page} ${date}`) ?? { tenant, page, date, views: 0, signUps: 0, unsure: 0, browsers: new Set() };
    this.visits.set(`${page} ${date}`, known);
    return known;
  }

  /** A thing is to stand still from now on. */
  stop(what: string, isSoft = false): void {
    if (!this.stops.some((stop) => stop.what === what && stop.until === null))
      this.stops.push({ what, from: { order: this.next(), at: this.now() }, isSoft, until: null });
  }

  /** A thing may go on from now on; call it before the service learns of it. */
  go(what: string): void {
    for (const stop of this.stops) if (stop.what === what) stop.until ??= { order: this.next(), at: this.now() };
  }

  refuse(one: Omit<Refusal, keyof Mark>): void {
    this.refusals.push({ ...one, address: one.address.toLowerCase(), order: this.next(), at: this.now() });
  }

  leave(one: Omit<Departure, keyof Mark>): void {
    this.departures.push({ ...one, address: one.address.toLowerCase(), order: this.next(), at: this.now() });
  }

  remove(contactId: string): void {
    this.removals.push({ contactId, order: this.next(), at: this.now() });
  }

  /** Takes back a no, because the person has said yes since. */
  allow(tenant: Tenant, address: string): void {
    this.forgiven.add(`${tenant} ${address.toLowerCase()}`);
    const kept = this.refusals.filter((one) => one.tenant !== tenant || one.address !== address.toLowerCase());
    this.refusals.splice(0, this.refusals.length, ...kept);
  }
}
