import type { Mailsvc } from "@mailsvc/sdk";

/** A customer, as your own database has it. */
export interface Customer {
  email: string;
  name: string;
  plan: string;
}

/** Result of a sync; `failed` names the customers whose rows were refused, and the reasons. */
export interface SyncReport {
  created: number;
  updated: number;
  removed: number;
  failed: { email: string; message: string }[];
}

const BATCH = 1000;

/**
 * Makes a list equal to your customers: creates and updates contacts, adds them to the list, and removes members that are no longer
 * customers. Contacts stay, and so do their unsubscriptions. Nobody enters an automation by it. You can run it any number of times: contacts that are equal are not changed.
 */
export async function syncCustomers(client: Mailsvc, customers: readonly Customer[], listId: string): Promise<SyncReport> {
  const report: SyncReport = { created: 0, updated: 0, removed: 0, failed: [] };
  for (const batch of batches(customers)) {
    const rows = batch.map(({ email, name, plan }) => ({ email, firstName: name, customFields: { plan } }));
    const { created, updated, results, errors } = await client.contacts.import({ rows });
    report.created += created;
    report.updated += updated;
    for (const { index, message } of errors) report.failed.push({ email: batch[index]?.email ?? "", message });
    const accepted = batch.filter((_, index) => results[index] !== "failed").map(({ email }) => email);
    if (accepted.length > 0) await client.lists.add(listId, { contacts: accepted, startAutomations: false });
  }
  const known = new Set(customers.map(({ email }) => email.toLowerCase()));
  const gone: string[] = [];
  for await (const { contact } of client.lists.contacts(listId)) if (!known.has(contact.email.toLowerCase())) gone.push(contact.id);
  for (const batch of batches(gone))
    report.removed += (await client.lists.remove(listId, { contacts: [...batch], startAutomations: false })).removed;
  return report;
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += BATCH) yield items.slice(at, at + BATCH);
}
