/** @jsxImportSource preact */
import type { CapturedMail, CapturedMailDetail, EmailDetail } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { Field } from "../../parts/field.tsx";
import { FormButton } from "../../parts/form-button.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { readAll } from "../../parts/page-reader.ts";
import { useResource } from "../../parts/resource.ts";
import { toast } from "../../parts/toast.tsx";

const OPEN_PATH = "/t/o/";
const CLICK_PATH = "/t/c/";

/** Does what a recipient and their mail server may do with a captured mail; dev mode only. */
export function Simulate({ email }: { readonly email: EmailDetail }) {
  const captured = useResource((signal) => findCaptured(email, signal), [email.id, email.updatedAt]);
  return (
    <section class="card">
      <h2>Simulate</h2>
      <Loaded from={captured}>
        {(mail) =>
          mail === null ? <p class="soft">This email was not captured, so there is nobody to answer it.</p> : <Actions mail={mail} />
        }
      </Loaded>
    </section>
  );
}

function Actions({ mail }: { readonly mail: CapturedMailDetail }) {
  const pixel = findTracked(mail, OPEN_PATH)[0];
  const links = findTracked(mail, CLICK_PATH);
  const visit = (url: string, done: string) => async (): Promise<void> => {
    // A click is answered by a redirect to where the link leads, which is not followed.
    await fetch(url, { redirect: "manual", credentials: "omit" });
    toast(done);
  };
  const report = (outcome: "bounced" | "complained", done: string) => async (): Promise<void> => {
    await api.inbox.report(mail.id, { outcome });
    toast(done);
  };
  return (
    <div class="stack">
      <p class="soft">As {mail.to}, or their mail server, would.</p>
      <div class="buttons">
        {pixel ? <ActionButton label="Open" act={visit(pixel, "Opened")} /> : null}
        {links.length === 1 ? <ActionButton label="Click" act={visit(links[0] ?? "", "Clicked")} /> : null}
        {links.length > 1 ? <ClickOne links={links} visit={visit} /> : null}
        <FormButton label="Reply" title="Reply as the recipient" submit="Send the reply" act={(values) => reply(mail, values.text("text"))}>
          <Field label="Text">
            <textarea name="text" rows={5} required>
              Thank you!
            </textarea>
          </Field>
        </FormButton>
        <ActionButton label="Bounce" act={report("bounced", "Bounced")} />
        <ActionButton label="Complain" act={report("complained", "Reported as spam")} />
      </div>
    </div>
  );
}

function ClickOne({
  links,
  visit,
}: {
  readonly links: readonly string[];
  readonly visit: (url: string, done: string) => () => Promise<void>;
}) {
  return (
    <FormButton label="Click" title="Click a link" act={(values) => visit(values.text("link"), "Clicked")()}>
      <Field label="Which one">
        <select name="link">
          {links.map((link, i) => (
            <option key={link} value={link}>
              Link {i + 1}
            </option>
          ))}
        </select>
      </Field>
    </FormButton>
  );
}

async function reply({ id }: CapturedMailDetail, text: string): Promise<void> {
  await api.inbox.reply(id, { text });
  toast("The reply was received");
}

/** The newest captured mail of an email; null when none was captured, or it was deleted. */
async function findCaptured({ id, recipients, to }: EmailDetail, signal: AbortSignal): Promise<CapturedMailDetail | null> {
  const ids = new Set([id, ...recipients.map((one) => one.id)]);
  const captured = await readAll<CapturedMail>((page) => api.inbox.list({ ...page, to }, { signal }));
  const found = captured.find(({ emailId }) => emailId !== null && ids.has(emailId));
  return found ? api.inbox.get(found.id, { signal }) : null;
}

/** The addresses of this server in a mail by which opens or clicks are counted, each once. */
function findTracked({ html, text }: CapturedMailDetail, path: string): string[] {
  const found = `${html ?? ""}\n${text ?? ""}`.match(/https?:\/\/[^\s"'<>]+/g) ?? [];
  // The server may be reached by another name than the one in its mail.
  const tracked = found.map((url) => new URL(url.replaceAll("&amp;", "&"))).filter(({ pathname }) => pathname.startsWith(path));
  return [...new Set(tracked.map(({ pathname, search }) => `${pathname}${search}`))];
}
