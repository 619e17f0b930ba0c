/** @jsxImportSource preact */
import type { SignUpForm } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { PageNumbers, SignUps } from "../parts/audience/page-numbers.tsx";
import { readForm, SignUpFields } from "../parts/audience/sign-up-fields.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One sign-up form: its address, its HTML, its numbers, and who has signed up. */
export default function FormPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const form = useResource((signal) => api.forms.get(id, { signal }), [id]);
  return (
    <Page
      title={form.data?.name ?? "Form"}
      back={{ href: toHref("/forms"), name: "Forms" }}
      about={form.data && <Status status={form.data.status} text={form.data.status === "PUBLISHED" ? "online" : "offline"} />}
      actions={form.data !== null && may("lists:write") ? <Actions form={form.data} reload={form.reload} /> : null}
    >
      <div class="scroll">
        <Loaded from={form}>{(data) => <Places form={data} />}</Loaded>
        {form.error === null ? <PageNumbers id={id} load={(signal) => api.forms.stats(id, {}, { signal })} /> : null}
        {form.error === null && may("contacts:read") ? (
          <SignUps id={id} load={(cursor, signal) => api.forms.submissions(id, { limit: 20, ...(cursor && { cursor }) }, { signal })} />
        ) : null}
      </div>
    </Page>
  );
}

function Actions({ form, reload }: { readonly form: SignUpForm; readonly reload: () => void }) {
  const { id, name, status, version } = form;
  const change = async (values: FormValues): Promise<void> => {
    await api.forms.update(id, { ...readForm(values), version });
    toast("Saved");
    reload();
  };
  const isOnline = status === "PUBLISHED";
  const turn = async (): Promise<void> => {
    await api.forms.update(id, { status: isOnline ? "DRAFT" : "PUBLISHED" });
    reload();
  };
  const remove = async (): Promise<void> => {
    await api.forms.delete(id);
    toast("Deleted");
    go("/forms");
  };
  return (
    <>
      <FormButton label="Edit" title="Edit the form" submit="Save" act={change}>
        <SignUpFields form={form} />
      </FormButton>
      <ActionButton label={isOnline ? "Take offline" : "Put online"} act={turn} />
      <ConfirmButton label="Delete" question={`Delete the form ${name}?`} danger act={remove}>
        <p>Its page and its numbers go, and the HTML on your pages stops working. Contacts stay.</p>
      </ConfirmButton>
    </>
  );
}

function Places({ form: { url, snippet, redirectUrl, doubleOptIn, listId } }: { readonly form: SignUpForm }) {
  return (
    <section class="card">
      <h2>Where people sign up</h2>
      <div class="stack">
        <Facts
          facts={[
            [
              "Page",
              <a key="page" href={url} target="_blank" rel="noreferrer">
                {url}
              </a>,
            ],
            ["List", listId && <ObjectLink key="list" id={listId} />],
            ["Confirmation", doubleOptIn ? "Each person, by email" : "As the list says"],
            ["Then", redirectUrl],
          ]}
        />
        <p class="soft">For your own pages, without scripts:</p>
        <CodeBlock label="The HTML of the form" code={snippet} />
      </div>
    </section>
  );
}
