# The server and the command line tool in one file, on the C library and nothing else.
#
#   docker build -t mailsvc .
#   docker run -p 2526:2526 -v mailsvc:/data mailsvc serve --public-url https://mail.example.com
#
# With mail submitted over SMTP, by MAILSVC_SMTP_PORT=2587 and MAILSVC_SMTP_TLS: -p 587:2587 besides.
FROM node:24-bookworm AS build
WORKDIR /source
COPY . .
RUN npm ci && npm run build:binary && mkdir /data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /source/build/mailsvc /usr/bin/mailsvc
COPY --from=build /source/build/THIRD-PARTY-LICENSES.txt /source/build/mailsvc.cdx.json /usr/share/doc/mailsvc/
COPY --from=build --chown=nonroot:nonroot /data /data
ENV MAILSVC_HOST=0.0.0.0 MAILSVC_DATA=/data
WORKDIR /data
VOLUME /data
EXPOSE 2526
EXPOSE 2587 2465
HEALTHCHECK --start-period=10s CMD ["/usr/bin/mailsvc", "health", "ready", "--url", "http://127.0.0.1:2526"]
# V8 may use 32 MB for new objects, not 128.
ENTRYPOINT ["/usr/bin/mailsvc", "--node-options=--max-semi-space-size=16"]
CMD ["serve"]
