/** The media type a file name suggests; `application/octet-stream` when it suggests none. The table is loaded when first needed. */
export async function mediaTypeOf(filename: string): Promise<string> {
  const { detectMimeType } = await import("nodemailer/lib/mime-funcs/mime-types.js");
  return detectMimeType(filename) || "application/octet-stream";
}
