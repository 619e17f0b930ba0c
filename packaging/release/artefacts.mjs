// What a release consists of, in the order in which it is made: later ones use what earlier ones have built.
//
// Each kind has its name, the names of its `files` by the version, the programs of the system it `needs` with the Debian packages that have
// them, `make`, which writes the files into the folder `out`, and `check`, which uses them as their users will: it says with `ok` what it
// did, with `notTried` what it could not do and why, and throws when something is wrong.
import { binary } from "./binary.mjs";
import { checksums } from "./checksums.mjs";
import { completions } from "./completions.mjs";
import { deb } from "./deb.mjs";
import { image } from "./image.mjs";
import { packages } from "./packages.mjs";
import { sbom } from "./sbom.mjs";
import { site } from "./site.mjs";

export const ARTEFACTS = [packages, binary, deb, image, sbom, completions, site, checksums];
