import type { CampaignDetail, CampaignPatch } from "@mailsvc/sdk/contract";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { after } from "../../browser.ts";
import { isAbout } from "../field-messages.ts";

// After the last letter.
const TYPING_MS = 600;

/** The fields of a campaign that can be changed. */
export type CampaignFields = Omit<CampaignPatch, "scheduledAt">;

/** A draft that saves itself while a person writes it. Only fields that were changed are sent, so that two people can write different ones. */
export class CampaignDraft {
  readonly #saved;
  readonly #changes = signal<CampaignFields>({});
  readonly #error = signal<RequestError | null>(null);
  readonly #saving = signal(false);
  #cancel: (() => void) | null = null;
  #running: Promise<void> = Promise.resolve();

  /** The campaign as the server has it. */
  readonly saved: ReadonlySignal<CampaignDetail>;
  /** The campaign with what is not saved yet. */
  readonly fields: ReadonlySignal<CampaignDetail>;
  /** What the server refused. */
  readonly error: ReadonlySignal<RequestError | null> = this.#error;
  readonly state: ReadonlySignal<"saved" | "saving" | "refused">;

  constructor(campaign: CampaignDetail) {
    this.#saved = signal(campaign);
    this.saved = this.#saved;
    this.fields = computed(() => ({ ...this.#saved.value, ...this.#changes.value }) as CampaignDetail);
    this.state = computed(() => {
      if (this.#error.value !== null && !this.#saving.value) return "refused";
      return this.#saving.value || Object.keys(this.#changes.value).length > 0 ? "saving" : "saved";
    });
  }

  /** Changes fields, and saves them once the person pauses. */
  set(change: CampaignFields): void {
    this.#changes.value = { ...this.#changes.peek(), ...change };
    this.#cancel?.();
    this.#cancel = after(TYPING_MS, () => void this.flush());
  }

  /** Whether something is not saved yet. */
  get dirty(): boolean {
    return Object.keys(this.#changes.peek()).length > 0;
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

  async #save(): Promise<void> {
    if (!this.dirty) return;
    this.#saving.value = true;
    try {
      let refused: RequestError | null = null;
      for (let left = this.#changes.peek(); Object.keys(left).length > 0; ) {
        try {
          this.#take(left, await api.campaigns.update(this.#saved.peek().id, left));
          // What was typed meanwhile, unless it was refused.
          left = refused === null ? this.#changes.peek() : {};
        } catch (cause) {
          refused = asRequestError(cause);
          // The others can be saved all the same.
          const { details } = refused;
          const good = Object.entries(left).filter(([name]) => !details.some(({ path }) => isAbout(path, name)));
          left = good.length < Object.keys(left).length ? Object.fromEntries(good) : {};
        }
      }
      this.#error.value = refused;
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
