{
  description = "mailsvc __VERSION__: self-hosted email service";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      files = {
__NIX_FILES__
      };
      forEach = nixpkgs.lib.genAttrs (builtins.attrNames files);
    in
    {
      packages = forEach (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.stdenv.mkDerivation {
            pname = "mailsvc";
            version = "__VERSION__";
            src = pkgs.fetchurl files.${system};
            nativeBuildInputs = [ pkgs.autoPatchelfHook ];
            buildInputs = [ pkgs.stdenv.cc.cc.lib ];
            # The program is at the end of its own file.
            dontStrip = true;
            installPhase = ''
              install -D mailsvc $out/bin/mailsvc
              install -D -m 644 LICENSE THIRD-PARTY-LICENSES.txt mailsvc.cdx.json -t $out/share/doc/mailsvc
            '';
            meta = {
              homepage = "__HOME__";
              license = pkgs.lib.licenses.mit;
              mainProgram = "mailsvc";
              platforms = builtins.attrNames files;
            };
          };
        }
      );
    };
}
