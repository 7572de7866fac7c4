url=__URL__
while [ -n "$url" ]; do
  curl -sS -D headers.txt -H "Authorization: Bearer $__VARIABLE__" "$url"
  url=$(sed -n 's/^[Ll]ink: <\([^>]*\)>; rel="next".*/\1/p' headers.txt)
done
