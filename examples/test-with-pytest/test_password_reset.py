from password_reset import PasswordResets


def test_user_gets_a_code_and_a_link_that_work_once(mailbox):
    resets = PasswordResets()
    resets.request("ada@example.com")
    mail = mailbox.wait(to="ada@example.com", subject="Reset your password")
    [code] = mail["codes"]
    assert mail["links"] == [f"https://acme.example/reset?code={code}"]
    assert resets.confirm("ada@example.com", code)
    assert not resets.confirm("ada@example.com", code)


def test_stranger_gets_no_mail(mailbox):
    PasswordResets().request("mallory@example.com")
    assert mailbox.all(to="mallory@example.com") == []
