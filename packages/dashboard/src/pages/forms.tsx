/** @jsxImportSource preact */
import type { SignUpForm } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { readForm, SignUpFields } from "../parts/audience/sign-up-fields.tsx";
import type { Column } from "../parts/data-table.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { go, toHref } from "../router.tsx";

const COLUMNS: readonly Column<SignUpForm>[] = [
  { head: "Form", width: "3 1 0", cell: ({ name }) => name },
  {
    head: "Opt-in",
    width: "0 0 7rem",
    wide: true,
    cell: ({ doubleOptIn }) => <span class="soft">{doubleOptIn ? "double" : "as the list"}</span>,
  },
  {
    head: "State",
    width: "0 0 7rem",
    cell: ({ status }) => <Status status={status} text={status === "PUBLISHED" ? "online" : "offline"} />,
  },
  { head: "Added", width: "0 0 6.5rem", wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The sign-up forms of the brand. */
export default function Forms() {
  const create = async (values: FormValues): Promise<void> => {
    const { button, consentText, ...form } = readForm(values);
    const { id } = await api.forms.create({ ...form, ...(button !== null && { button }), ...(consentText !== null && { consentText }) });
    go(`/forms/${id}`);
  };
  return (
    <ListPage
      title="Forms"
      about={
        <>
          People sign up on a page of this server, or on your own pages.
          {may("brand:read") ? (
            <>
              {" "}
              Its language and texts are those of <a href={toHref("/brand")}>your brand</a>.
            </>
          ) : null}
        </>
      }
      actions={
        may("lists:write") ? (
          <FormButton label="Add a form" title="Add a sign-up form" submit="Add" primary act={create}>
            <SignUpFields />
          </FormButton>
        ) : null
      }
      load={api.forms.list}
      columns={COLUMNS}
      href={({ id }) => toHref(`/forms/${id}`)}
      empty="No forms yet"
      start={<p>A form puts people on a list, once they have confirmed their address.</p>}
    />
  );
}
