<?php

declare(strict_types=1);

/** The mail that the program under test has sent to the server of `mailsvc dev -- phpunit`. */
final class Mailbox
{
    /**
     * The oldest mail to an address, whose `codes` and `links` are lists. Throws when none comes in so many seconds.
     *
     * @return array<string, mixed>
     */
    public function wait(string $to, string $subject = '', int $timeout = 10): array
    {
        $query = http_build_query(['to' => $to, 'subject' => $subject, 'timeout' => $timeout]);
        [$status, $mail] = $this->call('GET', "/inbox/wait?$query");
        if ($status === 200) {
            return $mail;
        }
        [, $all] = $this->call('GET', '/inbox');
        $sent = array_map(fn (array $other): string => "to {$other['to']}: {$other['subject']}", $all['data']);
        throw new RuntimeException("No mail to $to about \"$subject\". There is: " . implode(', ', $sent));
    }

    /**
     * All mail to an address, once everything that is due has been delivered: an empty list means that none was sent.
     *
     * @return list<array<string, mixed>>
     */
    public function all(string $to): array
    {
        $this->call('POST', '/clock/advance', ['by' => '0s']);
        return $this->call('GET', '/inbox?' . http_build_query(['to' => $to]))[1]['data'];
    }

    public function reset(): void
    {
        $this->call('POST', '/reset');
    }

    /**
     * @param array<string, string>|null $body
     * @return array{int, array<string, mixed>} status and answer
     */
    private function call(string $method, string $path, ?array $body = null): array
    {
        $stream = fopen(getenv('MAILSVC_URL') . "/__dev$path", 'r', false, stream_context_create(['http' => [
            'method' => $method,
            'header' => 'Content-Type: application/json',
            'content' => $body === null ? '' : json_encode($body, JSON_THROW_ON_ERROR),
            'ignore_errors' => true,
        ]]));
        $status = (int) explode(' ', stream_get_meta_data($stream)['wrapper_data'][0])[1];
        $answer = json_decode(stream_get_contents($stream), true, 512, JSON_THROW_ON_ERROR);
        if ($status !== 200 && $status !== 404) {
            throw new RuntimeException("$method $path answered $status: " . json_encode($answer));
        }
        return [$status, $answer];
    }
}
