/** Width and height of an image, in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

// The most chunks of an image to read: far more than cameras and programs write, in a millisecond or two.
const MAX_CHUNKS = 100_000;

const IHDR = 0x49484452;
const IEND = 0x49454e44;

const JPEG_END = Buffer.of(0xff, 0xd9);

const READERS: Readonly<Record<string, (v: DataView) => ImageSize>> = {
  "image/png": png,
  "image/jpeg": jpeg,
  "image/gif": gif,
  "image/webp": webp,
};

/** The size in an image's header, without decoding it. Null for an image that is cut off, broken or empty. */
export function imageSize(type: string, bytes: Uint8Array): ImageSize | null {
  try {
    const size = READERS[type]?.(view(bytes));
    return size && size.width > 0 && size.height > 0 ? size : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads the header, if the chunks after it lead to the final one. */
function png(v: DataView): ImageSize {
  if (v.getUint32(12) !== IHDR) throw new RangeError("a PNG begins with its header");
  for (let at = 8, n = 0; v.getUint32(at + 4) !== IEND; at += 12 + v.getUint32(at), n += 1)
    if (n === MAX_CHUNKS) throw new RangeError("a PNG of too many chunks");
  return { width: v.getUint32(16), height: v.getUint32(20) };
}

function gif(v: DataView): ImageSize {
  return { width: v.getUint16(6, true), height: v.getUint16(8, true) };
}

/** Skips the segments up to the frame header. */
function jpeg(v: DataView): ImageSize {
  if (!Buffer.from(v.buffer, v.byteOffset, v.byteLength).includes(JPEG_END)) throw new RangeError("a JPEG without an end");
  let at = 2;
  for (let n = 0; n < MAX_CHUNKS; n += 1) {
    if (v.getUint8(at) !== 0xff) throw new RangeError("a JPEG segment begins with FF");
    const marker = v.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    // C0 to CF are frame headers, but for DHT (C4), JPG (C8) and DAC (CC).
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { height: v.getUint16(at + 5), width: v.getUint16(at + 7) };
    else if (marker === 0xd9 || marker === 0xda) throw new RangeError("a JPEG without a frame header");
    else at += 2 + Math.max(2, v.getUint16(at + 2));
  }
  throw new RangeError("a JPEG of too many segments");
}

function uint24(v: DataView, at: number): number {
  return v.getUint16(at, true) | (v.getUint8(at + 2) << 16);
}

function webp(v: DataView): ImageSize {
  const chunk = v.getUint32(12);
  if (chunk === 0x56503858) return { width: uint24(v, 24) + 1, height: uint24(v, 27) + 1 };
  if (chunk === 0x5650384c) {
    const bits = v.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  if (chunk === 0x56503820) return { width: v.getUint16(26, true) & 0x3fff, height: v.getUint16(28, true) & 0x3fff };
  throw new RangeError("a WebP without an image");
}
