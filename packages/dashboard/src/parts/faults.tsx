/** @jsxImportSource preact */
import type { Fault } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { ActionButton } from "./action-button.tsx";
import { Field } from "./field.tsx";
import { FormButton, type FormValues } from "./form-button.tsx";
import { Loaded } from "./loaded.tsx";
import { useResource } from "./resource.ts";

/** Rules that make requests and SMTP fail, in dev mode. */
export function Faults() {
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
            <p class="soft">No faults are set.</p>
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
        <input name="delayMs" type="number" min={0} max={120000} defaultValue={0} required />
      </Field>
      <Field label="Of the requests, %">
        <input name="percent" type="number" min={1} max={100} defaultValue={100} required />
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
        <input name="code" type="number" min={400} max={599} defaultValue={452} required />
      </Field>
      <Field label="Text of the refusal" hint="Empty for the usual one of the code.">
        <input name="text" maxLength={400} />
      </Field>
      <Field label="Delay, ms">
        <input name="delayMs" type="number" min={0} max={120000} defaultValue={0} required />
      </Field>
      <Field label="Of the conversations, %">
        <input name="percent" type="number" min={1} max={100} defaultValue={100} required />
      </Field>
      <Field label="How often" hint="Empty for always.">
        <input name="count" type="number" min={1} />
      </Field>
    </>
  );
}
