class Mailsvc < Formula
  desc "Self-hosted email service and its command-line tool"
  homepage "__HOME__"
  url "__RELEASES__/v__VERSION__/__NPM_FILE__"
  sha256 "__NPM_SUM__"
  license "MIT"

  depends_on "node"

  def install
    # The driver of SQLite fetches or builds its native part.
    system "npm", "install", *std_npm_args(ignore_scripts: false)
    bin.install_symlink libexec.glob("bin/*")
    generate_completions_from_executable(bin/"mailsvc", "completion")
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/mailsvc --version").strip
  end
end
