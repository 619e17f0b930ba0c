import { known, type Making, type Noun } from "../noun.ts";
import { MARKS } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";
import { visit } from "./reading.ts";

/** A picture of one pixel. */
const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/** The bytes of a document of a brand. */
const documentOf = ({ tenant, label }: Pick<Making, "tenant" | "label">): Buffer =>
  Buffer.from(`%PDF-1.4\nThe guide ${label} of ${MARKS[tenant]}\n%%EOF\n`);

/** Deletes a file, and says whether it is given out all the same. */
async function remove(u: Universe, thing: Thing, link: string, made: () => Promise<unknown>) {
  const outcome = await u.call(made);
  if ("value" in outcome && (await visit(u, thing.tenant, link)) === 200)
    u.ledger.note("content", `The file of ${thing.label} is given out after it was deleted.`);
  return outcome;
}

/** Files of a brand. Whatever happens to the service, they are what they were. */
export const FILE_NOUNS = {
  leadMagnet: {
    make: async (making) => {
      const { universe, tenant } = making;
      const { leadMagnets } = universe.sdk(tenant);
      const file = new Blob([new Uint8Array(documentOf(making))], { type: "application/pdf" });
      const made = await universe.value(() => leadMagnets.create({ title: `Guide of ${MARKS[tenant]}`, file, fileName: "guide.pdf" }));
      return made && { id: made.id, also: { file: "leadMagnets", base64: documentOf(making).toString("base64") } };
    },
    verbs: {
      // The link of an hour before gives it out no more.
      edit: async (u, { tenant, id, label }) => {
        const shown = await u.value(() => u.sdk(tenant).leadMagnets.get(id));
        if (!shown) return false;
        await u.pass(2 * 3_600_000);
        const status = await visit(u, tenant, shown.downloadUrl);
        if (status === 200) u.ledger.note("keys", `A link to the file of ${label} works after two hours, and is for one.`);
        return status !== null;
      },
      delete: async (u, thing) => {
        const shown = await u.value(() => u.sdk(thing.tenant).leadMagnets.get(thing.id));
        if (!shown) return false;
        return remove(u, thing, shown.downloadUrl, () => u.sdk(thing.tenant).leadMagnets.delete(thing.id));
      },
    },
  },
  picture: {
    make: async (making) => {
      const { universe, tenant, label } = making;
      // Two workspaces have the same picture, which is kept once.
      const file = new Blob([new Uint8Array(PIXEL)], { type: "image/png" });
      const fields = { file, fileName: `${label}.png`, alt: `Logo of ${MARKS[tenant]}` };
      const made = await universe.value(() => universe.sdk(tenant).assets.create(fields));
      if (made && making.pick.oneIn(2)) await universe.call(() => universe.sdk(tenant).brand.update({ logoAssetId: made.id }));
      return known(made, { file: "assets", base64: PIXEL.toString("base64") });
    },
    verbs: {
      duplicate: async (u, { tenant, id, label }) => {
        const { assets } = u.sdk(tenant);
        const before = await u.value(() => assets.get(id));
        const file = new Blob([new Uint8Array(PIXEL)], { type: "image/png" });
        const outcome = await u.call(() => assets.create({ file, fileName: "again.png" }));
        if (before && "value" in outcome && outcome.value.id !== id) u.ledger.note("once", `The picture ${label} is in the library twice.`);
        return outcome;
      },
      delete: async (u, thing) => {
        const shown = await u.value(() => u.sdk(thing.tenant).assets.get(thing.id));
        if (!shown) return false;
        return remove(u, thing, shown.url, () => u.sdk(thing.tenant).assets.delete(thing.id));
      },
    },
  },
} satisfies Record<string, Noun>;
