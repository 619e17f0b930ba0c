import { crc32, deflateSync } from "node:zlib";

/** A picture of one color with a band of another one, as PNG in base64. Colors are red, green and blue. */
export function paint(width: number, height: number, ground: readonly number[], band: readonly number[]): string {
  const rows = Array.from({ length: height }, (_, y) => {
    const isBand = y > height / 3 && y < (height * 2) / 3;
    return Buffer.from([
      0,
      ...Array.from({ length: width }, (_, x) => (isBand && x > width / 6 && x < (width * 5) / 6 ? band : ground)).flat(),
    ]);
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits for each of three colors.
  head.set([8, 2], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64");
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([size, typed, sum]);
}
