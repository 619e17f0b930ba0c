/**
 * Builds all files.
 *
 * @param {{ plugins?: import("esbuild").Plugin[] }} [options]
 * @returns {Promise<Map<string, { type: string, etag: string, brotli: Uint8Array }>>} the files by name
 */
export declare function buildDashboard(options?: {
    plugins?: import("esbuild").Plugin[];
}): Promise<Map<string, {
    type: string;
    etag: string;
    brotli: Uint8Array;
}>>;
/**
 * The scripts that a browser loads for the first view, and for each route in addition, in bytes after gzip.
 *
 * @returns {Promise<{ first: number, routes: Record<string, number> }>}
 */
export declare function measureDashboard(): Promise<{
    first: number;
    routes: Record<string, number>;
}>;
