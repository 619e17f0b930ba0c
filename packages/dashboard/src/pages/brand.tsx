/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { BrandLook } from "../parts/brand/look.tsx";
import { BrandNames } from "../parts/brand/names.tsx";
import type { BrandChange } from "../parts/brand/section.tsx";
import { BrandTexts } from "../parts/brand/texts.tsx";
import { BrandVoice } from "../parts/brand/voice.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { toast } from "../parts/toast.tsx";

/** The brand: its name and logo, colors and fonts, its voice, and its texts for recipients. */
export default function BrandPage() {
  const brand = useResource((signal) => api.brand.get({ signal }), []);
  const save = async (change: BrandChange): Promise<void> => {
    await api.brand.update(change);
    toast("Saved");
    brand.reload();
  };
  return (
    <Page title="Brand" about="What your pages and mail look and sound like. Agents see it too, so leave out personal data.">
      <div class="scroll">
        <Loaded from={brand}>
          {(data) => (
            <>
              <BrandNames brand={data} save={save} />
              <BrandLook brand={data} save={save} />
              <BrandVoice brand={data} save={save} />
              <BrandTexts brand={data} save={save} />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  );
}
