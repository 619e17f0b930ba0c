/** @jsxImportSource preact */
import type { ClockState, Fault, RequestRecord } from "@mailsvc/sdk/contract";
import { labelTimer } from "@mailsvc/sdk/contract/timer-labels";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { session } from "../api/session.ts";
import { pause } from "../browser.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { learnTime, Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";

const TICK_MS = 1000;
const STEPS = ["1m", "15m", "1h", "1d", "7d"];

/** The clock, faults and snapshots of dev mode. */
export default function Dev() {
  return (
    <Page
      title="Clock and faults"
      about={
        session.value?.mailer === "smtp"
          ? "Mail leaves through SMTP; only simulated recipients end here."
          : "Mail is captured here. Nothing leaves this machine."
      }
      actions={<Reset />}
    >
      <div class="scroll">
        <Clock />
        <Requests />
        <Faults />
        <Snapshots />
      </div>
    </Page>
  );
}

function Reset() {
  const act = async (): Promise<void> => {
    await api.world.reset();
    toast("Everything is as at the first start");
  };
  return (
    <ConfirmButton label="Reset" question="Delete everything?" danger act={act}>
      <p>All mail, contacts, campaigns and webhooks are deleted. The seeded workspaces and their keys stay.</p>
    </ConfirmButton>
  );
}

function Clock() {
  const clock = useResource(async (signal) => {
    const state = await api.clock.show({ signal });
    learnTime(state.now);
    return state;
  }, []);
  useEffect(() => {
    const over = new AbortController();
    const tick = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await pause(TICK_MS, over.signal);
        if (!over.signal.aborted && !document.hidden) clock.reload();
      }
    };
    void tick();
    return () => over.abort();
  }, [clock.reload]);
  return (
    <section class="card">
      <h2>Clock</h2>
      <Loaded from={clock}>{(state) => <ClockControls state={state} changed={clock.reload} />}</Loaded>
    </section>
  );
}

function ClockControls({ state: { now, mode, next, timers }, changed }: { readonly state: ClockState; readonly changed: () => void }) {
  const move = (change: () => Promise<ClockState>) => async (): Promise<void> => {
    const { fired } = await change();
    const counts = Map.groupBy(fired, ({ name }) => labelTimer(name));
    const text = [...counts].map(([name, all]) => (all.length > 1 ? `${name} × ${all.length}` : name)).join(", ");
    toast(text === "" ? "Nothing was due" : text);
    changed();
  };
  const turn = (change: () => Promise<ClockState>) => async (): Promise<void> => {
    await change();
    changed();
  };
  return (
    <div class="stack">
      <Facts
        facts={[
          ["Time", <Time key="now" at={now} exactly />],
          ["State", mode],
          [
            "Next",
            next === null ? (
              "no timer waits"
            ) : (
              <>
                {labelTimer(next.name)}, <Time at={next.at} exactly />
              </>
            ),
          ],
          ["Timers", timers],
        ]}
      />
      <div class="buttons">
        {mode === "frozen" ? (
          <ActionButton label="Let it run" act={turn(() => api.clock.thaw())} />
        ) : (
          <ActionButton label="Freeze" act={turn(() => api.clock.freeze({}))} />
        )}
        {STEPS.map((by) => (
          <ActionButton key={by} label={`+${by}`} act={move(() => api.clock.advance({ by }))} />
        ))}
        <ActionButton label="Next timer" disabled={next === null} act={move(() => api.clock.next())} />
      </div>
    </div>
  );
}

const SHOWN_REQUESTS = 100;

/** The latest requests of programs, as they come. */
function Requests() {
  const [failed, setFailed] = useState(false);
  const requests = useResource(
    (signal) => api.requests.list({ limit: SHOWN_REQUESTS, ...(failed && { failed: true }) }, { signal }),
    [failed],
  );
  useEffect(() => {
    const over = new AbortController();
    const tick = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await pause(TICK_MS, over.signal);
        if (!over.signal.aborted && !document.hidden) requests.reload();
      }
    };
    void tick();
    return () => over.abort();
  }, [requests.reload]);
  return (
    <section class="card">
      <div class="what">
        <h2>Requests</h2>
        <label>
          <input type="checkbox" checked={failed} onChange={({ currentTarget }) => setFailed(currentTarget.checked)} /> Only failed
        </label>
      </div>
      <Loaded from={requests}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">{failed ? "No request has failed." : "No program has asked anything yet."}</p>
          ) : (
            <ul class="items">
              {data.map((request) => (
                <RequestLine key={request.id} request={request} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function RequestLine({ request: { at, method, path, status, error, key, ms } }: { readonly request: RequestRecord }) {
  return (
    <li>
      <div class="what">
        <code>
          {status} {method} {path}
        </code>
        <span class="soft">
          <Time at={at} exactly />
        </span>
      </div>
      <p class="soft">{[error, key === null ? "no key" : (key.name ?? key.preview ?? key.id), `${ms} ms`].filter(Boolean).join(", ")}</p>
    </li>
  );
}

function Faults() {
  const faults = useResource((signal) => api.faults.list({ signal }), []);
  const addSmtp = async (values: FormValues): Promise<void> => {
    const kind = values.text("kind");
    const given = (name: string) => (values.text(name) === "" ? {} : { [name]: values.text(name) });
    await api.faults.add({
      smtp: values.text("smtp") as NonNullable<Fault["smtp"]>,
      on: values.text("on") === "delivery" ? "delivery" : "submission",
      delayMs: Number(values.text("delayMs")),
      rate: Number(values.text("percent")) / 100,
      drop: kind === "drop",
      ...given("address"),
      ...(kind === "reply" && { code: Number(values.text("code")), ...given("text") }),
      ...(values.text("count") !== "" && { count: Number(values.text("count")) }),
    });
    faults.reload();
  };
  const add = async (values: FormValues): Promise<void> => {
    await api.faults.add({
      path: values.text("path"),
      delayMs: Number(values.text("delayMs")),
      rate: Number(values.text("percent")) / 100,
      drop: values.text("kind") === "drop",
      when: values.text("when") === "after" ? "after" : "before",
      ...(values.text("kind") === "error" && { code: "internal_error" }),
      ...(values.text("method") !== "" && { method: values.text("method") as NonNullable<Fault["method"]> }),
    });
    faults.reload();
  };
  const clear = async (): Promise<void> => {
    await api.faults.clear();
    faults.reload();
  };
  return (
    <section class="card">
      <div class="what">
        <h2>Faults</h2>
        <div class="buttons">
          {faults.data !== null && faults.data.data.length > 0 ? <ActionButton label="Remove all" act={clear} /> : null}
          <FormButton label="Add a fault" title="Let requests fail" submit="Add" act={add}>
            <FaultFields />
          </FormButton>
          <FormButton label="Add an SMTP fault" title="Let SMTP fail" submit="Add" act={addSmtp}>
            <SmtpFaultFields />
          </FormButton>
        </div>
      </div>
      <Loaded from={faults}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">Nothing is made to fail.</p>
          ) : (
            <ul class="items">
              {data.map(({ id, smtp, on, address, method, path, code, enhancedCode, text, drop, delayMs, rate, matched, hits }) => (
                <li key={id}>
                  <div class="what">
                    <code>
                      {smtp === undefined
                        ? `${method ?? "any method"} ${path}`
                        : `SMTP ${smtp}${on === "delivery" ? ", deliveries" : ""} ${address ?? ""}`}
                    </code>
                    <span class="soft">
                      {hits} of {matched}
                    </span>
                  </div>
                  <p class="soft">
                    {[
                      drop ? "closes the connection" : [code, enhancedCode, text].filter(Boolean).join(" "),
                      delayMs > 0 ? `waits ${delayMs} ms` : null,
                      rate < 1 ? `${Math.round(rate * 100)} % of them` : null,
                    ]
                      .filter(Boolean)
                      .join(", ")}
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function FaultFields() {
  return (
    <>
      <Field label="Path" hint="* matches anything.">
        <input name="path" required value="/api/v1/send" spellcheck={false} />
      </Field>
      <Field label="Method">
        <select name="method">
          <option value="">any</option>
          {["GET", "POST", "PATCH", "DELETE"].map((method) => (
            <option key={method}>{method}</option>
          ))}
        </select>
      </Field>
      <Field label="What happens">
        <select name="kind">
          <option value="error">An error is answered</option>
          <option value="drop">The connection is closed</option>
          <option value="delay">It only takes longer</option>
        </select>
      </Field>
      <Field label="When" hint="After the work, only the answer is lost: what idempotency keys are for.">
        <select name="when">
          <option value="before">Before the work</option>
          <option value="after">After the work</option>
        </select>
      </Field>
      <Field label="Delay, ms">
        <input name="delayMs" type="number" min={0} max={120000} value={0} required />
      </Field>
      <Field label="Of the requests, %">
        <input name="percent" type="number" min={1} max={100} value={100} required />
      </Field>
    </>
  );
}

const STEP_LABELS: readonly (readonly [step: NonNullable<Fault["smtp"]>, label: string])[] = [
  ["connect", "The greeting"],
  ["ehlo", "EHLO"],
  ["auth", "AUTH"],
  ["mail", "MAIL FROM"],
  ["rcpt", "RCPT TO"],
  ["data", "DATA"],
  ["end-of-data", "The end of the message"],
];

function SmtpFaultFields() {
  return (
    <>
      <Field label="Conversation">
        <select name="on">
          <option value="submission">Programs submit mail to this server</option>
          <option value="delivery">This server delivers mail</option>
        </select>
      </Field>
      <Field label="Step">
        <select name="smtp">
          {STEP_LABELS.map(([step, label]) => (
            <option key={step} value={step} selected={step === "rcpt"}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Address" hint="The recipient, or the sender of MAIL FROM; * matches anything. Empty for all.">
        <input name="address" maxLength={320} spellcheck={false} placeholder="*@example.com" />
      </Field>
      <Field label="What happens">
        <select name="kind">
          <option value="reply">It is refused</option>
          <option value="drop">The connection is closed</option>
          <option value="delay">It only takes longer</option>
        </select>
      </Field>
      <Field label="Code of the refusal">
        <input name="code" type="number" min={400} max={599} value={452} required />
      </Field>
      <Field label="Text of the refusal" hint="Empty for the usual one of the code.">
        <input name="text" maxLength={400} />
      </Field>
      <Field label="Delay, ms">
        <input name="delayMs" type="number" min={0} max={120000} value={0} required />
      </Field>
      <Field label="Of the conversations, %">
        <input name="percent" type="number" min={1} max={100} value={100} required />
      </Field>
      <Field label="How often" hint="Empty for always.">
        <input name="count" type="number" min={1} />
      </Field>
    </>
  );
}

function Snapshots() {
  const snapshots = useResource((signal) => api.world.snapshots({ signal }), []);
  const take = async (values: FormValues): Promise<void> => {
    await api.world.snapshot({ name: values.text("name") });
    snapshots.reload();
  };
  const restore = (name: string) => async (): Promise<void> => {
    await api.world.restore({ name });
    toast(`Back at ${name}`);
  };
  return (
    <section class="card">
      <div class="what">
        <h2>Snapshots</h2>
        <FormButton label="Take one" title="Save the state of the server" submit="Save" act={take}>
          <Field label="Name">
            <input name="name" required pattern="[A-Za-z0-9_\-]{1,64}" placeholder="before" spellcheck={false} />
          </Field>
        </FormButton>
      </div>
      <Loaded from={snapshots}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">None was taken.</p>
          ) : (
            <ul class="items">
              {data.map(({ name, takenAt }) => (
                <li key={name}>
                  <div class="what">
                    <span>
                      <strong>{name}</strong>{" "}
                      <span class="soft">
                        <Time at={takenAt} exactly />
                      </span>
                    </span>
                    <ConfirmButton label="Restore" question={`Go back to ${name}?`} danger act={restore(name)}>
                      <p>What has happened since is lost.</p>
                    </ConfirmButton>
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
