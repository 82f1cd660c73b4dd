/** Addresses that no webhook may reach, whatever name they hide behind. */
export const HOSTILE_IPS: readonly string[] = [
  // this network, loopback
  '0.0.0.0 0.0.0.1 0.255.255.255 127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.255',
  // private
  '10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.1 172.17.0.1 172.31.255.255 192.168.0.0 192.168.0.1',
  '192.168.255.255',
  // carrier-grade NAT, with a metadata service inside
  '100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255',
  // link-local, with the metadata services
  '169.254.0.1 169.254.169.254 169.254.170.2 169.254.169.123 169.254.255.255',
  // protocol assignments, documentation, 6to4 relays, AS112, AMT, benchmarking
  '192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.192 192.0.2.1 192.0.2.255 192.31.196.1 192.52.193.1',
  '192.88.99.1 192.88.99.2 192.175.48.1 198.18.0.0 198.18.0.1 198.19.255.255 198.51.100.1',
  '198.51.100.255 203.0.113.0 203.0.113.9',
  // a cloud's host endpoint under an address that looks public
  '168.63.129.16',
  // multicast, reserved, broadcast
  '224.0.0.0 224.0.0.1 224.0.0.251 233.252.0.1 239.255.255.250 239.255.255.255 240.0.0.0 240.0.0.1',
  '250.1.2.3 255.255.255.254 255.255.255.255',
  // IPv6: unspecified, loopback, IPv4-compatible
  ':: ::1 ::2 ::127.0.0.1 ::10.0.0.1 ::169.254.169.254 ::8.8.8.8 ::ffff',
  // IPv4-mapped and IPv4-translated
  '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe',
  '::ffff:0.0.0.0 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:a00:1 ::ffff:0:8.8.8.8',
  // NAT64, well-known and local
  '64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe 64:ff9b::8.8.8.8 64:ff9b:1::1',
  '64:ff9b:1::7f00:1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
  // discard-only, dummy, and what lies outside 2000::/3
  '100:: 100::1 100::ffff:ffff:ffff:ffff 100:0:0:1::1 200::1 1000::1 1fff:ffff::1 4000::1 5f00::1',
  '5fff::1 6000::1 8000::1 a000::1 c000::1 e000::1 fb00::1',
  // Teredo, benchmarking, AMT, AS112, ORCHID, drone tags, the rest of 2001::/23
  '2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:7f00:1:: 2001:1::1 2001:1::2 2001:2::',
  '2001:2::1 2001:2:0:ffff::1 2001:3::1 2001:4:112::1 2001:10::1 2001:1f:ffff::1 2001:20::1',
  '2001:2f:ffff::1 2001:30::1 2001:3f::1 2001:1ff:ffff::1 2620:4f:8000::1',
  // documentation
  '2001:db8:: 2001:db8::1 2001:db8:ffff:ffff::1 3fff:: 3fff::1 3fff:fff:ffff::1',
  // 6to4
  '2002::1 2002:7f00:1:: 2002:7f00:1::1 2002:a00:1::1 2002:a9fe:a9fe:: 2002:808:808::1',
  // ISATAP inside a global prefix
  '2a00:1450::5efe:10.0.0.1 2a00:1450::200:5efe:a00:1',
  // unique local, with a metadata service; link-local; site-local; multicast
  'fc00:: fc00::1 fd00::1 fd00:ec2::254 fd12:3456:789a::1 fdff:ffff::1 fe80:: fe80::1 fe80::a9fe:a9fe',
  'fe9a::1 febf:ffff::1 fec0::1 feff::1 ff00::1 ff01::1 ff02::1 ff02::fb ff05::2 ff0e::1 ffff::1',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
].flatMap(line => line.split(' '))

/** Spellings of such addresses and names that a URL parser turns into one of them. */
export const HOSTILE_HOSTS: readonly string[] = [
  // decimal, hexadecimal, octal, in one to four parts, mixed
  '2130706433 0x7f000001 017700000001 0x7f.1 127.1 127.0.1 0177.0.0.1 0x7f.0.0.1 0x7f.0x0.0x0.0x1',
  '0177.0000.0000.0001 127.0x0.0.01 00000177.0.0.1 127.0.0.1. 0 0. 0x0 0xffffffff 4294967295 2852039166',
  '0xa9fea9fe 0xA9FEA9FE 025177524776 169.254.43518 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376',
  '169.16689662 0251.254.0xa9fe 169.254.169.254. 167772161 0xa000001 012.0.0.1 10.1 0xa.1 3232235521',
  '0xc0a80001 192.168.257 192.11010049 2886729729 0xac100001 172.1048577 3758096385 0xe0000001',
  '1681915904 0x64.0x40.0.1',
  // percent-encoded and in other digits and dots
  '%31%32%37.0.0.1 127%2e0.0.1 %30x7f.1 %6c%6f%63alhost 169%2E254.169.254',
  // names of this machine and of nobody
  'localhost LOCALHOST Localhost foo.localhost a.b.localhost internal metadata postgres redis',
  'kubernetes wpad localdomain metadata.google.internal db.local kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local router.home.arpa a.INTERNAL host.docker.internal',
  // IPv6 in other spellings
  '[::] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0.0.0.1] [0::1]',
  '[::FFFF:127.0.0.1] [0:0:0:0:0:ffff:7f00:0001] [::ffff:0a00:0001] [0064:ff9b::7f00:1] [FE80::1]',
  '[Fd00:EC2::254] [2001:0DB8::1] [FEC0::1] [2002:7F00:0001::]',
].flatMap(line => line.split(' '))

/** Texts that are refused for their form, wherever they lead. */
export const HOSTILE_TEXTS: readonly string[] = [
  // not https
  'http://example.com/',
  'HTTP://example.com/',
  'http://8.8.8.8/',
  'ftp://example.com/',
  'ws://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/plain,x',
  'javascript:alert(1)',
  'unix:///run/x.sock',
  '//example.com/',
  'example.com/hook',
  '/hook',
  'https',
  'https:',
  'https:/',
  'https://',
  'https:///',
  '',
  'https:example.com',
  'https:/example.com',
  'https:///example.com/',
  'https://?x',
  'https:// /',
  // user info, ports and fragments
  'https://user@example.com/',
  'https://user:pass@example.com/',
  'https://@example.com/',
  'https://:@example.com/',
  'https://example.com@127.0.0.1/',
  'https://127.0.0.1\\@example.com/',
  'https://example.com\\.evil.com/',
  'https://example.com/#',
  'https://example.com/#x',
  'https://example.com#@127.0.0.1/',
  'https://example.com:0/',
  'https://example.com:65536/',
  'https://example.com:-1/',
  'https://example.com:x/',
  // characters that a parser drops, or people cannot see
  ' https://example.com/',
  'https://example.com/ ',
  'https://exam ple.com/',
  'https://exam\tple.com/',
  'ht\ntps://example.com/',
  'https://example.com/\r\nX-Evil: 1',
  'https://example.com/\0',
  'https://ex\u00adample.com/',
  'https://\uff11\uff12\uff17.0.0.1/',
  'https://127\u30020\u30020\u30021/',
  'https://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/',
  'https://example\u202e.com/',
  'https://exampl\u0435.com/',
  // impossible names
  'https://example..com/',
  'https://.example.com/',
  'https://example.com./',
  'https://-example.com/',
  'https://ex*mple.com/',
  'https://256.256.256.256/',
  'https://1.2.3.4.5/',
  'https://08.1.2.3/',
  'https://0x/x',
  'https://[::1/',
  'https://[::1%25eth0]/',
  'https://[fe80::1%eth0]/',
  'https://[1:2:3]/',
  'https://[v1.x]/',
  'https://$(id).example.com/',
  "https://a'b.example.com/",
  'https://a,b.example.com/',
  'https://a&b.example.com/',
  `https://${'a'.repeat(64)}.com/`,
  `https://${'a.'.repeat(127)}com/`,
  `https://example.com/${'a'.repeat(2029)}`,
  `https://example.com/${'"'.repeat(700)}`,
]
