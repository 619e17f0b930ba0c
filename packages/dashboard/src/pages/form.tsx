/** @jsxImportSource preact */
import type { LandingPageStats, SignUpForm } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { readForm, SignUpFields } from "../parts/audience/sign-up-fields.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount } from "../parts/plural.ts";
import { useResource } from "../parts/resource.ts";
import { formatShare } from "../parts/share.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One sign-up form: its address, its HTML, its numbers, and who has signed up. */
export default function FormPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const form = useResource((signal) => api.forms.get(id, { signal }), [id]);
  const stats = useResource((signal) => api.forms.stats(id, {}, { signal }), [id]);
  return (
    <Page
      title={form.data?.name ?? "Form"}
      back={{ href: toHref("/forms"), name: "Forms" }}
      about={form.data && <Status status={form.data.status} text={form.data.status === "PUBLISHED" ? "online" : "offline"} />}
      actions={form.data !== null && may("lists:write") ? <Actions form={form.data} reload={form.reload} /> : null}
    >
      <div class="scroll">
        <Loaded from={form}>{(data) => <Places form={data} />}</Loaded>
        <Loaded from={stats}>{(data) => <Numbers stats={data} />}</Loaded>
        {may("contacts:read") ? <SignUps id={id} /> : null}
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
            [
              "List",
              listId && (
                <a key="list" href={toHref(`/lists/${listId}`)}>
                  The list they join
                </a>
              ),
            ],
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

function Numbers({ stats: { views, uniqueVisitors, submissions, conversionRate, from, to } }: { readonly stats: LandingPageStats }) {
  return (
    <section class="card">
      <h2>The last 30 days</h2>
      <Facts
        facts={[
          ["Sign-ups", formatCount(submissions)],
          ["Visitors of its page", formatCount(uniqueVisitors)],
          ["Views", formatCount(views)],
          ["Of visitors", formatShare(conversionRate)],
          ["Days", `${from} to ${to}, UTC`],
        ]}
      />
    </section>
  );
}

function SignUps({ id }: { readonly id: string }) {
  const found = useResource((signal) => api.forms.submissions(id, { limit: 20 }, { signal }), [id]);
  return (
    <section class="card">
      <h2>Newest sign-ups</h2>
      <Loaded from={found}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">Nobody has signed up yet.</p>
          ) : (
            <ul class="items">
              {data.map(({ id: at, contactId, consentText, createdAt }) => (
                <li key={at}>
                  <div class="what">
                    {contactId === null ? (
                      <span class="soft">A contact that is deleted</span>
                    ) : (
                      <a href={toHref(`/contacts/${contactId}`)}>Contact</a>
                    )}
                    <Time at={createdAt} />
                  </div>
                  <p class="soft">{consentText}</p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
