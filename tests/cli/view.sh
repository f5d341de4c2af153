# A page in one file. What is served is tested by tests/view.
copy hot.data
copy hot-group.data
try view -q -o page.html hot.data
shell 'grep -c "<title>hot.data</title>" page.html; perfdata view -q -o again.html hot.data; cmp page.html again.html && echo same'
shell 'perfdata view -q --title "a <b> & c" -o title.html hot.data; grep -c "<title>a &lt;b&gt; &amp; c</title>" title.html'
try view -q -o two.html hot.data hot-group.data
shell 'grep -o "data\">[A-Za-z0-9+/=]*,[A-Za-z0-9+/=]*<" two.html | wc -l'
try view -q -o page.html --comm nobody hot.data
try view -q -o hot.data hot.data
try view -q -o page.html one two three
try view -q --port 70000 hot.data
try view -q -o page.html no.data
