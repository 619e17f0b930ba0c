/** @jsxImportSource preact */

/** Says above a preview that it shows what was there before, and why. */
export function OldPreview({ why }: { readonly why: string }) {
  return (
    <div class="note warn" role="status">
      <strong>Not the latest</strong>
      <p>{why}</p>
    </div>
  );
}
