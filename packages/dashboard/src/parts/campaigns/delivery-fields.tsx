/** @jsxImportSource preact */
import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { Field } from "../field.tsx";
import { findMessages } from "../field-messages.ts";
import type { CampaignDraft } from "./draft.ts";
import { bindText } from "./message-fields.tsx";
import { listTimeZones, ownTimeZone } from "./zoned-time.ts";

type Throttle = NonNullable<CampaignDetail["throttle"]>;
type Utm = NonNullable<CampaignDetail["utm"]>;

const UTM = ["source", "medium", "campaign", "term", "content"] as const;

/** Delivery settings: speed, hours, relay and tracking. */
export function DeliveryFields({ draft }: { readonly draft: CampaignDraft }) {
  const { trackOpens, trackClicks, utm } = draft.fields.value;
  const error = draft.error.value;
  const setUtm = (name: keyof Utm, value: string): void => {
    const { [name]: _, ...others } = utm ?? {};
    const next = value === "" ? others : { ...others, [name]: value };
    draft.set({ utm: Object.keys(next).length === 0 ? null : next });
  };
  return (
    <section class="card form" aria-labelledby="delivery">
      <h2 id="delivery">Delivery</h2>
      <Pace draft={draft} />
      <fieldset class="radios">
        <legend>Count</legend>
        <label class="check">
          <input type="checkbox" checked={trackOpens} onChange={({ currentTarget }) => draft.set({ trackOpens: currentTarget.checked })} />{" "}
          Opens
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={trackClicks}
            onChange={({ currentTarget }) => draft.set({ trackClicks: currentTarget.checked })}
          />{" "}
          Clicks
        </label>
      </fieldset>
      <details open={draft.saved.value.relay !== null || draft.saved.value.utm !== null}>
        <summary>Relay and UTM parameters</summary>
        <div class="form">
          <Field label="Relay" hint="Empty for that of the sender. Your operator knows the names." error={findMessages(error, "relay")}>
            <input {...bindText(draft, "relay")} autocomplete="off" spellcheck={false} />
          </Field>
          <div class="fields-row">
            {UTM.map((name) => (
              <Field key={name} label={`utm_${name}`} error={findMessages(error, `utm.${name}`)}>
                <input
                  value={utm?.[name] ?? ""}
                  maxLength={200}
                  autocomplete="off"
                  spellcheck={false}
                  onInput={({ currentTarget: { value } }) => setUtm(name, value)}
                />
              </Field>
            ))}
          </div>
        </div>
      </details>
    </section>
  );
}

function Pace({ draft }: { readonly draft: CampaignDraft }) {
  const { throttle } = draft.fields.value;
  const error = draft.error.value;
  const window = throttle?.window;
  const set = (change: Partial<Throttle>): void => {
    const next = Object.fromEntries(Object.entries({ ...throttle, ...change }).filter(([, value]) => value !== undefined));
    draft.set({ throttle: Object.keys(next).length === 0 ? null : next });
  };
  const setWindow = (change: Partial<NonNullable<typeof window>>): void => {
    if (window) set({ window: { ...window, ...change } });
  };
  return (
    <>
      <Field label="At most, each second" hint="Empty for as fast as the relay takes it." error={findMessages(error, "throttle.perSecond")}>
        <input
          type="number"
          min={0.01}
          max={10_000}
          step="any"
          value={throttle?.perSecond ?? ""}
          onInput={({ currentTarget: { value } }) => set({ perSecond: value === "" ? undefined : Number(value) })}
        />
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={window !== undefined}
          onChange={({ currentTarget }) =>
            set({ window: currentTarget.checked ? { start: "09:00", end: "18:00", timeZone: ownTimeZone() } : undefined })
          }
        />{" "}
        Only at certain hours
      </label>
      {window === undefined ? null : (
        <div class="fields-row three">
          <Field label="From">
            <input
              type="time"
              required
              value={window.start}
              onInput={({ currentTarget: { value } }) => value && setWindow({ start: value })}
            />
          </Field>
          <Field label="Until" error={findMessages(error, "throttle.window")}>
            <input type="time" required value={window.end} onInput={({ currentTarget: { value } }) => value && setWindow({ end: value })} />
          </Field>
          <Field label="Time zone">
            <ZoneSelect value={window.timeZone} choose={(timeZone) => setWindow({ timeZone })} />
          </Field>
        </div>
      )}
    </>
  );
}

/** A choice of time zones. */
export function ZoneSelect({ value, choose }: { readonly value: string; readonly choose: (zone: string) => void }) {
  const zones = listTimeZones();
  return (
    <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {(zones.includes(value) ? zones : [value, ...zones]).map((zone) => (
        <option key={zone} value={zone}>
          {zone.replaceAll("_", " ")}
        </option>
      ))}
    </select>
  );
}
