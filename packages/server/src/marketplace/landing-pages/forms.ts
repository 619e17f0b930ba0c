import { type contract, type LandingPageStatus, type Page, PageForm, type SignUpForm } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import type { PageBrand } from "../../html/page.ts";
import type { Handlers } from "../../http/handler.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { getPageBrand } from "../../workspaces/workspaces.ts";
import { changePage, insertPage } from "./authoring.ts";
import { deletePage, type PageDeps, type PageRow, pageUrl } from "./pages.ts";
import { renderSnippet } from "./render.ts";
import { listSubmissions } from "./signups.ts";
import { getStats } from "./stats.ts";

/*
 * A sign-up form of a brand is a landing page that no agent made, with nothing on it but the form.
 */

/** Sign-up forms, for their brand. */
export const formHandlers: Handlers<typeof contract.forms, PageDeps> = {
  list: (input, { read, deps, workspaceId }) => listForms(read, deps, workspaceId, input),
  create: async ({ name, ...input }, { tx, deps, workspaceId }) => {
    const { content, rest } = splitContent(input);
    const page = { status: "PUBLISHED" as const, doubleOptIn: true, ...rest, title: name, form: applySent(null, content) };
    return showForm(tx, deps, await insertPage(tx, deps, toBrand(workspaceId), page, null));
  },
  get: async ({ id }, { read, deps, workspaceId }) => showForm(read, deps, await getFormRow(read, workspaceId, id)),
  update: async ({ id, name, version, ...input }, { tx, deps, workspaceId, header }) => {
    const { form } = await getFormRow(tx, workspaceId, id);
    const { content, rest } = splitContent(input);
    const changes = {
      ...rest,
      ...(name !== undefined && { title: name }),
      ...(Object.keys(content).length > 0 && { form: applySent(form, content) }),
    };
    return showForm(tx, deps, await changePage(tx, deps, toBrand(workspaceId), { id, version, ...changes }, header("if-match"), null));
  },
  delete: async ({ id }, { tx, deps, workspaceId }) => {
    const shown = await showForm(tx, deps, await getFormRow(tx, workspaceId, id));
    await deletePage(tx, deps, workspaceId, id);
    return shown;
  },
  stats: async ({ id, ...span }, { read, deps, workspaceId }) => {
    await getFormRow(read, workspaceId, id);
    return getStats(read, toBrand(workspaceId), id, span, deps.clock.now());
  },
  submissions: async ({ id, ...input }, { read, workspaceId }) => {
    await getFormRow(read, workspaceId, id);
    return listSubmissions(read, workspaceId, id, input);
  },
};

const CONTENT = Object.keys(PageForm.shape);

/** Separates texts and fields of a form from the rest of an input; those that were not sent are in neither. */
function splitContent<Rest extends object>(input: Rest & Sent): { content: Sent; rest: Omit<Rest, keyof PageForm> } {
  const sent = Object.entries(input).filter(([, value]) => value !== undefined);
  return {
    content: Object.fromEntries(sent.filter(([name]) => CONTENT.includes(name))),
    rest: Object.fromEntries(sent.filter(([name]) => !CONTENT.includes(name))) as Omit<Rest, keyof PageForm>,
  };
}

/** Texts and fields as they were sent; null is to become the usual one again. */
type Sent = { readonly [Name in keyof PageForm]?: PageForm[Name] | null };

/** A form after changes. */
function applySent(before: PageForm | null, sent: Sent): PageForm {
  return Object.fromEntries(Object.entries({ ...before, ...sent }).filter(([, value]) => value !== null));
}

function toBrand(workspaceId: string): { workspaceId: string; activationId: null } {
  return { workspaceId, activationId: null };
}

interface FormFilter extends PageInput {
  readonly status?: LandingPageStatus | undefined;
}

async function listForms(read: Reader, deps: PageDeps, workspaceId: string, input: FormFilter): Promise<Page<SignUpForm>> {
  const { landingPages: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), isNull(t.activationId), input.status && eq(t.status, input.status));
  const brand = await getPageBrand(read, workspaceId);
  return listPage(read, input, { table: t, where, toItem: (row) => describeForm(deps, row, brand) });
}

/** Throws ApiError not_found, also for a page of an agent. */
async function getFormRow(q: Reader | Tx, workspaceId: string, id: string): Promise<PageRow> {
  const [row] = await findRows(q, q.t.landingPages, { workspaceId, id });
  if (!row || row.activationId !== null) throw notFound("form", id);
  return row;
}

async function showForm(q: Reader | Tx, deps: PageDeps, row: PageRow): Promise<SignUpForm> {
  return describeForm(deps, row, await getPageBrand(q, row.workspaceId));
}

function describeForm(deps: Pick<PageDeps, "baseUrl">, row: PageRow, brand: PageBrand): SignUpForm {
  const { fields = [], labels = null, button = null, consentText = null, consentCheckbox = false } = row.form ?? {};
  return {
    id: row.id,
    name: row.title,
    slug: row.slug,
    status: row.status,
    url: pageUrl(deps, row),
    snippet: renderSnippet(row, pageUrl(deps, row), brand),
    listId: row.listId,
    doubleOptIn: row.doubleOptIn,
    redirectUrl: row.redirectUrl,
    fields,
    labels,
    button,
    consentText,
    consentCheckbox,
    thanksTitle: row.form?.thanksTitle ?? null,
    thanksText: row.form?.thanksText ?? null,
    version: row.version,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}
