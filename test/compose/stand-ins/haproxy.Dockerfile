# The image haproxy: its user has the number 99.
FROM uniform-rest-stand-in
STOPSIGNAL SIGUSR1
USER 99:99
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
