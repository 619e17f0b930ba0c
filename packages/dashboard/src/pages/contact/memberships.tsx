/** @jsxImportSource preact */
import type { ContactDetail, List } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { toOptions } from "../../parts/audience/groups.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Field } from "../../parts/field.tsx";
import { FormButton, type FormValues } from "../../parts/form-button.tsx";
import { toast } from "../../parts/toast.tsx";
import { toHref } from "../../router.tsx";

interface Props {
  readonly contact: ContactDetail;
  readonly lists: readonly List[];
  readonly reload: () => void;
}

/** The lists and segments of a person; lists can be joined and left. */
export function Memberships({ contact, lists, reload }: Props) {
  const others = lists.filter(({ id }) => !contact.lists.some((one) => one.id === id));
  const add = async (values: FormValues): Promise<void> => {
    const { pending, failed } = await api.lists.add(values.text("list"), { contacts: [contact.id] });
    const [first] = failed;
    if (first) throw new Error(first.message);
    toast(pending > 0 ? "Asked by email to confirm" : "Added");
    reload();
  };
  const leave = (id: string) => async (): Promise<void> => {
    await api.lists.removeOne(id, contact.id);
    toast("Removed");
    reload();
  };
  return (
    <section class="card">
      <h2>Lists and segments</h2>
      {contact.lists.length === 0 ? <p class="soft">On no list.</p> : null}
      <ul class="items">
        {contact.lists.map(({ id, name }) => (
          <li key={id} class="what">
            <a href={toHref(`/lists/${id}`)}>{name}</a>
            {may("lists:write") ? (
              <ConfirmButton label="Remove" question={`Remove ${contact.email} from ${name}?`} act={leave(id)}>
                <p>Campaigns to this list do not reach the person any more. Other mail still does.</p>
              </ConfirmButton>
            ) : null}
          </li>
        ))}
        {contact.segments.map(({ id, name }) => (
          <li key={id} class="what">
            <a href={toHref(`/segments/${id}`)}>{name}</a>
            <span class="soft">segment</span>
          </li>
        ))}
      </ul>
      {may("lists:write") && others.length > 0 ? (
        <div class="buttons after">
          <FormButton label="Add to a list" title={`Add ${contact.email} to a list`} submit="Add" act={add}>
            <Field label="List" hint="A list with double opt-in asks the person by email first.">
              <select name="list">
                {toOptions(others).map(({ value, text }) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </Field>
          </FormButton>
        </div>
      ) : null}
    </section>
  );
}
