/** @jsxImportSource preact */
import type { Contact, Person } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { download } from "../../parts/download.ts";
import { Field } from "../../parts/field.tsx";
import { count } from "../../parts/plural.ts";
import { toast } from "../../parts/toast.tsx";
import { go } from "../../router.tsx";

/** Requests a person may make about their data: export and erasure. */
export function PersonalData({ contact: { email } }: { readonly contact: Contact }) {
  return (
    <section class="card">
      <h2>Personal data</h2>
      <p class="soft">For people who ask what you know about them, or want to be forgotten.</p>
      <div class="buttons after">
        <ActionButton label="Download their data" act={() => downloadPerson(email)} />
        {may("people:write") ? <Erase email={email} /> : null}
      </div>
    </section>
  );
}

async function downloadPerson(email: string): Promise<void> {
  let person: Person | null = null;
  for (let cursor: string | null = ""; cursor !== null; cursor = person.nextCursor) {
    const page: Person = await api.people.get(email, cursor === "" ? {} : { cursor });
    person =
      person === null ? page : { ...page, emails: [...person.emails, ...page.emails], received: [...person.received, ...page.received] };
  }
  download(`${email.replace(/[^\w.@-]/g, "_")}.json`, [`${JSON.stringify(person, null, 2)}\n`], "application/json");
}

function Erase({ email }: { readonly email: string }) {
  const [typed, setTyped] = useState("");
  const act = async (): Promise<void> => {
    if (typed.trim().toLowerCase() !== email.toLowerCase()) throw new Error("Write the address above to confirm.");
    const { emails, events, staysSuppressed } = await api.people.erase(email);
    toast(`Erased, with ${count(emails, "email")} and ${count(events, "event")}${staysSuppressed ? "; the address stays suppressed" : ""}`);
    go("/contacts");
  };
  return (
    <ConfirmButton label="Erase the person" question={`Erase everything about ${email}?`} danger act={act}>
      <div class="form">
        <p>This cannot be undone. What goes:</p>
        <ul class="bullets">
          <li>the contact with its fields, tags, consent and memberships</li>
          <li>all emails to the person with their contents; those that wait are not sent</li>
          <li>the mail that the person wrote, events, and their ways through automations</li>
        </ul>
        <p class="soft">
          If the address is suppressed it stays so: a keyed hash is kept, from which the address cannot be read. Backups and your mail
          server are up to you.
        </p>
        <Field label={`Write ${email} to confirm`}>
          <input value={typed} autocomplete="off" spellcheck={false} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        </Field>
      </div>
    </ConfirmButton>
  );
}
