/** @jsxImportSource preact */
import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { Field } from "../field.tsx";
import { serverNow } from "../time.tsx";
import { ZoneSelect } from "./delivery-fields.tsx";
import { formatInstant, ownTimeZone, toInstant, toLocal } from "./zoned-time.ts";

const HOUR = 3_600_000;
// Clocks in Kiribati are 14 hours ahead of UTC, and starting takes a moment.
const FIRST_READER_MS = 14.5 * HOUR;
const MAX_AHEAD_MS = 365 * 24 * HOUR;

/** Send time chosen for a campaign. */
export interface When {
  readonly kind: "now" | "at" | "local";
  /** Date and time such as 2030-03-01T09:00, in the zone or on each reader's clock. */
  readonly at: string;
  /** The zone; for readers' clocks, that of contacts without one. */
  readonly timeZone: string;
}

/** Reads a campaign's send time; the default is tomorrow at nine. */
export function readWhen({ scheduledAt, localTime }: CampaignDetail): When {
  const timeZone = ownTimeZone();
  if (localTime !== null) return { kind: "local", at: localTime.at, timeZone: localTime.fallback };
  if (scheduledAt !== null) return { kind: "at", at: toLocal(Date.parse(scheduledAt), timeZone), timeZone };
  return { kind: "now", at: `${toLocal(serverNow() + 24 * HOUR, timeZone).slice(0, 10)}T09:00`, timeZone };
}

/** Returns the start of sending, ms; null for at once. For recipients' local time, that is before the first zone reaches the time. */
export function findStart({ kind, at, timeZone }: When): number | null {
  if (kind === "now") return null;
  if (kind === "at") return toInstant(at, timeZone);
  const start = Date.parse(`${at}Z`) - FIRST_READER_MS;
  return start > serverNow() ? start : null;
}

/** Describes a fault in the chosen time; null if it is fine. */
export function findFault(when: When): string | null {
  if (when.kind === "now") return null;
  if (Number.isNaN(Date.parse(`${when.at}Z`))) return "Choose a date and a time.";
  // The last clocks to show a time are 12 hours behind UTC.
  const last = when.kind === "at" ? toInstant(when.at, when.timeZone) : Date.parse(`${when.at}Z`) + 12 * HOUR;
  if (last <= serverNow()) return "This time has passed.";
  return last > serverNow() + MAX_AHEAD_MS ? "Choose a time within a year." : null;
}

interface Props {
  readonly when: When;
  readonly choose: (when: When) => void;
  /** Reason that sending at recipients' local time is impossible; null if it is possible. */
  readonly localFault: string | null;
  readonly error?: string;
}

/** A choice: now, at a time, or when each reader's clock shows a time. */
export function WhenFields({ when, choose, localFault, error = "" }: Props) {
  const { kind, at, timeZone } = when;
  const radio = (value: When["kind"], text: string, disabled = false) => (
    <label class="check">
      <input type="radio" name="when" checked={kind === value} disabled={disabled} onChange={() => choose({ ...when, kind: value })} />{" "}
      {text}
    </label>
  );
  const fault = findFault(when);
  const start = fault === null ? findStart(when) : null;
  return (
    <fieldset class="form radios">
      <legend class="hidden">When</legend>
      {radio("now", "Now")}
      {radio("at", "At a time")}
      {radio("local", "When each reader's clock shows a time", localFault !== null)}
      {localFault === null ? null : <p class="hint soft">{localFault}</p>}
      {kind === "now" ? null : (
        <div class="fields-row">
          <Field label="Date and time" error={fault ?? error}>
            <input
              type="datetime-local"
              required
              value={at}
              onInput={({ currentTarget: { value } }) => choose({ ...when, at: value.slice(0, 16) })}
            />
          </Field>
          <Field label={kind === "at" ? "Time zone" : "Readers without a time zone"}>
            <ZoneSelect value={timeZone} choose={(zone) => choose({ ...when, timeZone: zone })} />
          </Field>
        </div>
      )}
      {kind === "local" && fault === null ? (
        <p class="hint soft">
          The custom field timeZone of a contact says where they are. The audience is counted{" "}
          {start === null ? "now" : formatInstant(start, timeZone)}
          {start === null ? "; readers whose clocks are past this time get it at once." : ", before the first clock shows this time."}
        </p>
      ) : null}
      {kind === "at" && start !== null && timeZone !== ownTimeZone() ? (
        <p class="hint soft">Here that is {formatInstant(start, ownTimeZone())}.</p>
      ) : null}
    </fieldset>
  );
}
