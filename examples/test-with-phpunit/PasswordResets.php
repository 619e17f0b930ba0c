<?php

declare(strict_types=1);

/** Password resets by mail. */
final class PasswordResets
{
    private const USERS = ['ada@example.com' => 'Ada'];

    /** @var array<string, string> */
    private array $codes = [];

    /** Sends a code and a link to a user. Strangers get no mail, and the caller does not learn who is a user. */
    public function request(string $address): void
    {
        $name = self::USERS[$address] ?? null;
        if ($name === null) {
            return;
        }
        $code = (string) random_int(100000, 999999);
        $this->codes[$address] = $code;
        $this->send([
            'from' => 'Acme <hello@acme.example>',
            'to' => $address,
            'subject' => 'Reset your password',
            'text' => "Hello $name,\n\nyour code is $code. Or open https://acme.example/reset?code=$code\n",
        ]);
    }

    /** Whether a code is the one of the mail. It is good for one time. */
    public function confirm(string $address, string $code): bool
    {
        if (($this->codes[$address] ?? null) !== $code) {
            return false;
        }
        unset($this->codes[$address]);
        return true;
    }

    /** @param array<string, string> $mail */
    private function send(array $mail): void
    {
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => ['Authorization: Bearer ' . getenv('MAILSVC_API_KEY'), 'Content-Type: application/json'],
            'content' => json_encode($mail, JSON_THROW_ON_ERROR),
        ]]);
        if (@file_get_contents(getenv('MAILSVC_URL') . '/api/v1/send', false, $context) === false) {
            throw new RuntimeException('The mail was not accepted: ' . (error_get_last()['message'] ?? ''));
        }
    }
}
