// Artefacts of a release, in the order in which they are made: later ones use those built earlier.
//
// Each kind has its name, the names of its `files` by the version, the programs of the system it `needs` with the Debian packages that
// have them, `make`, which writes the files into the folder `out`, and `check`, which uses them as their users will: it reports its steps
// with `ok`, steps that were impossible and the reason with `notTried`, and throws when something is wrong.
import { binary } from "./binary.mjs";
import { channels } from "./channels.mjs";
import { checksums } from "./checksums.mjs";
import { completions } from "./completions.mjs";
import { deb } from "./deb.mjs";
import { image } from "./image.mjs";
import { packages } from "./packages.mjs";
import { sbom } from "./sbom.mjs";
import { site } from "./site.mjs";

export const ARTEFACTS = [packages, binary, deb, image, sbom, completions, site, channels, checksums];
