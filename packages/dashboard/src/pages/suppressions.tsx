/** @jsxImportSource preact */
import type { Suppression } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { optionsOf, REASON_WORDS, SCOPE_MEANING, SCOPE_WORDS, SOURCE_WORDS } from "../parts/audience/words.ts";
import type { Column } from "../parts/data-table.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { count } from "../parts/plural.ts";
import { splitList } from "../parts/split-list.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Suppression>[] = [
  { head: "Address", width: "3 1 0", cell: ({ email }) => email },
  {
    head: "Blocks",
    width: "0 0 8.5rem",
    cell: ({ scope }) => <Status status={scope === "all" ? "suppressed" : "paused"} text={SCOPE_WORDS[scope]} />,
  },
  { head: "Reason", width: "0 0 8.5rem", wide: true, cell: ({ reason }) => REASON_WORDS[reason] },
  { head: "Came from", width: "0 0 9.5rem", wide: true, cell: ({ source }) => <span class="soft">{SOURCE_WORDS[source]}</span> },
  { head: "Note", width: "2 1 0", wide: true, cell: ({ note }) => <span class="soft">{note}</span> },
  { head: "Since", width: "0 0 6.5rem", wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Addresses that get no mail, or no marketing. */
export default function Suppressions() {
  return (
    <ListPage
      title="Suppressions"
      about="Addresses that get no mail, from any sender, whether they are contacts or not."
      actions={(refresh) => (may("suppressions:write") ? <Add done={refresh} /> : null)}
      filters={[
        { name: "search", label: "Search", example: "Search: @example.com" },
        { name: "scope", label: "Blocks", options: optionsOf(SCOPE_WORDS) },
        { name: "reason", label: "Reason", options: optionsOf(REASON_WORDS) },
        { name: "source", label: "Came from", options: optionsOf(SOURCE_WORDS) },
      ]}
      load={api.suppressions.list}
      live={({ type }) => type.startsWith("suppression.")}
      columns={COLUMNS}
      href={({ id }) => toHref(`/suppressions/${id}`)}
      empty="No address is suppressed"
      start={<p>Addresses that bounce, report spam or unsubscribe come here by themselves.</p>}
      none="No suppression fits these filters"
    />
  );
}

function Add({ done }: { readonly done: () => void }) {
  const act = async (values: FormValues): Promise<void> => {
    const more = { scope: values.text("scope") as Suppression["scope"], ...values.filled("note") };
    const emails = splitList(values.text("emails"));
    const [only] = emails;
    if (only !== undefined && emails.length === 1) {
      await api.suppressions.create({ email: only, ...more });
      done();
      return toast(`${only} is suppressed`);
    }
    const entries = emails.map((email) => ({ email, ...more }));
    const { created, widened, unchanged, failed } = await api.suppressions.import({ entries });
    done();
    const [first] = failed;
    if (first) throw new Error(`${first.email}: ${first.message}${failed.length > 1 ? ` And ${failed.length - 1} more.` : ""}`);
    toast(
      `${count(created + widened, "address", "addresses")} suppressed${unchanged > 0 ? `, ${count(unchanged, "was", "were")} already` : ""}`,
    );
  };
  return (
    <FormButton label="Suppress addresses" title="Suppress addresses" submit="Suppress" primary act={act}>
      <AddFields />
    </FormButton>
  );
}

function AddFields() {
  const [scope, setScope] = useState<Suppression["scope"]>("all");
  return (
    <>
      <Field label="Addresses" hint="One on each line, 1,000 at most.">
        <textarea name="emails" rows={3} required placeholder="ada@example.com" spellcheck={false} />
      </Field>
      <Field label="Blocks" hint={`${SCOPE_MEANING[scope]} ${scope === "all" ? "" : "The contact becomes unsubscribed."}`}>
        <select name="scope" value={scope} onChange={({ currentTarget }) => setScope(currentTarget.value as Suppression["scope"])}>
          {optionsOf(SCOPE_WORDS).map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Note" hint="For you and your colleagues.">
        <input name="note" maxLength={500} placeholder="asked by phone" autocomplete="off" />
      </Field>
    </>
  );
}
