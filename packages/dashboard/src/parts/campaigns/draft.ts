import type { CampaignDetail, CampaignPatch } from "@mailsvc/sdk/contract";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { asRequestError, isOutdated, type RequestError } from "../../api/request-error.ts";
import { after } from "../../browser.ts";
import { isAbout } from "../field-messages.ts";

// After the last letter.
const TYPING_MS = 600;
const BUSY_MS = 3000;

/** The fields of a campaign that can be changed. */
export type CampaignFields = Omit<CampaignPatch, "scheduledAt" | "revision">;

/** Parts of a campaign that cannot be merged when two people edit it, by field. */
export const PARTS: Readonly<Record<keyof CampaignFields, string>> = {
  name: "name",
  recipientType: "audience",
  segmentId: "audience",
  listId: "audience",
  include: "audience",
  exclude: "audience",
  resendOf: "audience",
  fromEmail: "sender",
  fromName: "sender",
  replyTo: "Reply-To",
  subjectLine: "subject",
  previewText: "preview text",
  abTest: "A/B test",
  templateId: "content",
  html: "content",
  text: "content",
  blocks: "content",
  throttle: "pace",
  localTime: "time",
  relay: "relay",
  trackOpens: "tracking",
  trackClicks: "tracking",
  utm: "UTM parameters",
};

/**
 * A draft that saves itself while a person writes it. Only fields that were changed are sent, so that two people can write different
 * ones; where both have changed the same, the person decides.
 */
export class CampaignDraft {
  readonly #saved;
  readonly #changes = signal<CampaignFields>({});
  readonly #error = signal<RequestError | null>(null);
  readonly #saving = signal(false);
  readonly #theirs = signal<CampaignDetail | null>(null);
  #cancel: (() => void) | null = null;
  #running: Promise<void> = Promise.resolve();

  /** The campaign as the server has it. */
  readonly saved: ReadonlySignal<CampaignDetail>;
  /** The campaign with what is not saved yet. */
  readonly fields: ReadonlySignal<CampaignDetail>;
  /** Error of the last refused save. */
  readonly error: ReadonlySignal<RequestError | null> = this.#error;
  /** The campaign as somebody else has stored it, with changes of what is changed here; null when nobody has. */
  readonly theirs: ReadonlySignal<CampaignDetail | null> = this.#theirs;
  readonly state: ReadonlySignal<"saved" | "saving" | "refused">;

  constructor(campaign: CampaignDetail) {
    this.#saved = signal(campaign);
    this.saved = this.#saved;
    this.fields = computed(() => ({ ...this.#saved.value, ...this.#changes.value }) as CampaignDetail);
    this.state = computed(() => {
      if ((this.#error.value !== null || this.#theirs.value !== null) && !this.#saving.value) return "refused";
      return this.#saving.value || Object.keys(this.#changes.value).length > 0 ? "saving" : "saved";
    });
  }

  /** Changes fields, and saves them once the person pauses. */
  set(change: CampaignFields): void {
    this.#changes.value = { ...this.#changes.peek(), ...change };
    this.#cancel?.();
    this.#cancel = after(TYPING_MS, () => void this.flush());
  }

  /** True if there are unsaved changes. */
  get dirty(): boolean {
    return Object.keys(this.#changes.peek()).length > 0;
  }

  /** Names of the parts that both people changed. */
  get disputed(): ReadonlySet<string> {
    const theirs = this.#theirs.value;
    return theirs === null ? new Set() : this.#findDisputed(theirs);
  }

  /** Saves now; answers whether all is saved. */
  async flush(): Promise<boolean> {
    this.#cancel?.();
    this.#cancel = null;
    // A saving that is under way may miss what was typed last, so another one follows it.
    this.#running = this.#running.then(() => this.#save());
    await this.#running;
    return !this.dirty;
  }

  /** The campaign as the server has it now: what somebody else has changed is shown, unless it was changed here as well. */
  meet(stored: CampaignDetail): void {
    if (stored.revision <= this.#saved.peek().revision) return;
    if (this.#findDisputed(stored).size > 0) this.#theirs.value = stored;
    else this.#saved.value = stored;
  }

  /** Gives up what both have changed. */
  async takeTheirs(): Promise<void> {
    const theirs = this.#theirs.peek();
    if (theirs === null) return;
    const disputed = this.#findDisputed(theirs);
    const kept = Object.entries(this.#changes.peek()).filter(([name]) => !disputed.has(PARTS[name as keyof CampaignFields]));
    this.#changes.value = Object.fromEntries(kept);
    await this.#decide(theirs);
  }

  /** Saves the own changes over theirs. */
  async keepMine(): Promise<void> {
    const theirs = this.#theirs.peek();
    if (theirs !== null) await this.#decide(theirs);
  }

  async #decide(theirs: CampaignDetail): Promise<void> {
    this.#saved.value = theirs;
    this.#theirs.value = null;
    this.#error.value = null;
    await this.flush();
  }

  #findDisputed(stored: CampaignDetail): ReadonlySet<string> {
    const saved = this.#saved.peek();
    const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
    const mine = this.#changes.value;
    const names = Object.keys(PARTS) as (keyof CampaignFields)[];
    const changed = names.filter((name) => !isSame(stored[name], saved[name]) && !(name in mine && isSame(stored[name], mine[name])));
    const ofTheirs = new Set(changed.map((name) => PARTS[name]));
    return new Set(names.filter((name) => name in mine && ofTheirs.has(PARTS[name])).map((name) => PARTS[name]));
  }

  async #save(): Promise<void> {
    // Resolve the conflict first.
    if (!this.dirty || this.#theirs.peek() !== null) return;
    this.#saving.value = true;
    try {
      let refused: RequestError | null = null;
      for (let left = this.#changes.peek(); Object.keys(left).length > 0; ) {
        const { id, revision } = this.#saved.peek();
        try {
          this.#take(left, await api.campaigns.update(id, { ...left, revision }));
          // Continues with changes typed in the meantime, unless the save was refused.
          left = refused === null ? this.#changes.peek() : {};
        } catch (cause) {
          if (isOutdated(cause)) {
            this.meet(await api.campaigns.get(id));
            if (this.#theirs.peek() !== null) break;
            continue;
          }
          refused = asRequestError(cause);
          // The others can be saved all the same.
          const { details } = refused;
          const good = Object.entries(left).filter(([name]) => !details.some(({ path }) => isAbout(path, name)));
          left = good.length < Object.keys(left).length ? Object.fromEntries(good) : {};
        }
      }
      this.#error.value = refused;
      // A busy server saves it later, without another key.
      if (refused !== null && (refused.status === 429 || refused.status >= 500)) this.#cancel ??= after(BUSY_MS, () => void this.flush());
    } finally {
      this.#saving.value = false;
    }
  }

  #take(sent: CampaignFields, campaign: CampaignDetail): void {
    this.#saved.value = campaign;
    const entries = Object.entries(this.#changes.peek()) as [keyof CampaignFields, unknown][];
    this.#changes.value = Object.fromEntries(entries.filter(([name, value]) => !Object.hasOwn(sent, name) || sent[name] !== value));
  }
}
