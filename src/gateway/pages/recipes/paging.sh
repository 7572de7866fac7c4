url=__URL__
while [ -n "$url" ] && curl -sS --fail-with-body -D headers.txt -H "Authorization: Bearer $__VARIABLE__" "$url"; do
  url=$(sed -n 's/^[Ll]ink: <\([^>]*\)>; rel="next".*/\1/p' headers.txt)
done
[ -z "$url" ] || { echo 'A page was refused.' >&2; false; }
