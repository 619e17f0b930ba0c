<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/Mailbox.php';
require_once __DIR__ . '/PasswordResets.php';

final class PasswordResetTest extends TestCase
{
    private Mailbox $mailbox;

    protected function setUp(): void
    {
        $this->mailbox = new Mailbox();
        $this->mailbox->reset();
    }

    public function testUserGetsACodeAndALinkThatWorkOnce(): void
    {
        $resets = new PasswordResets();
        $resets->request('ada@example.com');
        $mail = $this->mailbox->wait(to: 'ada@example.com', subject: 'Reset your password');
        [$code] = $mail['codes'];
        self::assertSame(["https://acme.example/reset?code=$code"], $mail['links']);
        self::assertTrue($resets->confirm('ada@example.com', $code));
        self::assertFalse($resets->confirm('ada@example.com', $code));
    }

    public function testStrangerGetsNoMail(): void
    {
        (new PasswordResets())->request('mallory@example.com');
        self::assertSame([], $this->mailbox->all(to: 'mallory@example.com'));
    }
}
